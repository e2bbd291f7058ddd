/** Signals closer together than this are one. */
const SAME_SIGNAL_MS = 250;
/** The same for Ctrl-C: the terminal and each program between it and this one pass it on, which takes longer on a busy machine. */
const SAME_CTRL_C_MS = 1000;

/**
 * Runs `stop` at the first SIGTERM or SIGINT and ends the process with 0 when it is done (1 when it fails);
 * a second signal ends the process at once with 143. Returns a function that starts the same shutdown.
 */
export function stopOnSignals(stop: () => Promise<void>): () => void {
  let since: number | undefined;
  const begin = (signal?: NodeJS.Signals): void => {
    if (since !== undefined) {
      if (Date.now() - since > (signal === 'SIGINT' ? SAME_CTRL_C_MS : SAME_SIGNAL_MS)) process.exit(143);
      return;
    }
    since = Date.now();
    stop().then(
      () => process.exit(0),
      (error: unknown) => {
        console.error(error);
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', begin);
  process.on('SIGINT', begin);
  return begin;
}

/** Signals closer together than this are one: a terminal and npm both pass on the same Ctrl-C. */
const SAME_SIGNAL_MS = 500;

/**
 * Runs `stop` at the first SIGTERM or SIGINT and ends the process with 0 when it is done (1 when it fails);
 * a second signal ends the process at once with 143. The result is the same stop, for other reasons to end.
 */
export function stopOnSignals(stop: () => Promise<void>): () => void {
  let since: number | undefined;
  const begin = (): void => {
    if (since !== undefined) {
      if (Date.now() - since > SAME_SIGNAL_MS) process.exit(143);
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

/** How long resolvers may take to react to the end of their operation, in milliseconds, so that results are partial where possible. */
const REACTION_MS = 100;

/** Resolves with a value, or with `ended` if it is still missing soon after the end of its operation: resolvers may ignore the signal. */
export function untilEnded<T>(value: T | Promise<T>, signal: AbortSignal, ended: () => T): T | Promise<T> {
  if (!(value instanceof Promise)) return value;
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const end = (): void => void (timer = setTimeout(() => resolve(ended()), REACTION_MS));
    const forget = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
    };
    value.then(
      (done) => {
        forget();
        resolve(done);
      },
      (error: unknown) => {
        forget();
        reject(error as Error);
      },
    );
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });
}

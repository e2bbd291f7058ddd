let second = 0;
let text = '';

/** Returns the value of a `Date` header. */
export function currentDate(): string {
  const now = Math.floor(Date.now() / 1_000);
  if (now !== second) {
    second = now;
    text = new Date(now * 1_000).toUTCString();
  }
  return text;
}

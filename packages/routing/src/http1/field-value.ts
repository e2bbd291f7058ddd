const SPACE = 32;
const TAB = 9;

/** Returns a field value without leading and trailing whitespace (RFC 9110 §5.5). */
export function trimmedValue(value: string): string {
  let end = value.length;
  if (end === 0 || !(isBlank(value.charCodeAt(0)) || isBlank(value.charCodeAt(end - 1)))) return value;
  let start = 0;
  while (start < end && isBlank(value.charCodeAt(start))) start++;
  while (end > start && isBlank(value.charCodeAt(end - 1))) end--;
  return value.slice(start, end);
}

/** Trims the values of a flat list. */
export function trimValues(flat: string[]): void {
  for (let i = 1; i < flat.length; i += 2) flat[i] = trimmedValue(flat[i]!);
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB;
}

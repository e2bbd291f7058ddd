/** Returns true if `name`, in any case, equals the lower-case name `lower`. */
export function sameName(name: string, lower: string): boolean {
  return name.length === lower.length && (name === lower || name.toLowerCase() === lower);
}

/** Returns the value of a header in a flat `[name, value, …]` list; several values are joined with `,`. */
export function findHeader(flat: readonly string[], lower: string): string | undefined {
  let value: string | undefined;
  for (let i = 0; i < flat.length; i += 2) {
    if (sameName(flat[i]!, lower)) value = value === undefined ? flat[i + 1]! : `${value},${flat[i + 1]!}`;
  }
  return value;
}

/** Returns the headers by lower-case name; several values joined with `, `. */
export function headersByName(flat: readonly string[]): Record<string, string> {
  const headers = Object.create(null) as Record<string, string>;
  for (let i = 0; i < flat.length; i += 2) {
    const name = flat[i]!.toLowerCase();
    headers[name] = headers[name] === undefined ? flat[i + 1]! : `${headers[name]}, ${flat[i + 1]!}`;
  }
  return headers;
}

/** Removes every value of a header from the list, in place. */
export function removeHeader(flat: string[], lower: string): void {
  removeFrom(flat, 0, (name) => sameName(name, lower));
}

/** Removes headers from the list by name, in place. */
export function removeWhere(flat: string[], isRemoved: (name: string) => boolean): void {
  removeFrom(flat, 0, isRemoved);
}

/** Sets a header to one value: at the position of its first value, or at the end. */
export function setHeader(flat: string[], lower: string, value: string): void {
  for (let i = 0; i < flat.length; i += 2) {
    if (!sameName(flat[i]!, lower)) continue;
    flat[i] = lower;
    flat[i + 1] = value;
    removeFrom(flat, i + 2, (name) => sameName(name, lower));
    return;
  }
  flat.push(lower, value);
}

function removeFrom(flat: string[], start: number, isRemoved: (name: string) => boolean): void {
  let kept = start;
  for (let i = start; i < flat.length; i += 2) {
    if (isRemoved(flat[i]!)) continue;
    if (kept < i) {
      flat[kept] = flat[i]!;
      flat[kept + 1] = flat[i + 1]!;
    }
    kept += 2;
  }
  // Setting the length is slow, even to the same value.
  if (kept < flat.length) flat.length = kept;
}

export function hasHeader(flat: readonly string[], lower: string): boolean {
  for (let i = 0; i < flat.length; i += 2) if (sameName(flat[i]!, lower)) return true;
  return false;
}

/** Returns true for a text with CR, LF or NUL, which would end a header line early. */
export function breaksLine(value: string): boolean {
  for (let i = 0; i < value.length; i++) {
    const code = value.charCodeAt(i);
    if (code === 13 || code === 10 || code === 0) return true;
  }
  return false;
}

const TAB = 9;
const LF = 10;
const CR = 13;
const SPACE = 32;
const DELETE = 127;

/**
 * Returns true if header lines contain forbidden characters: control characters, or line breaks other than CR LF
 * (RFC 9112 2.2).
 */
export function hasBrokenLines(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code >= SPACE && code !== DELETE) continue;
    if (code === TAB) continue;
    if (code !== CR || text.charCodeAt(++i) !== LF) return true;
  }
  return false;
}

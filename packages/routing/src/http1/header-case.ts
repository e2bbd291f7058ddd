/** Start of a header name, or of a part of it. */
const PART = /(^|[^a-zA-Z0-9])[a-z]/g;

/** Returns a header name in title case, such as `Content-Type`. */
function properCase(name: string): string {
  return name.toLowerCase().replace(PART, (start) => start.toUpperCase());
}

/** Returns the head of a request with its header names in title case. */
export function withProperCase(head: string): string {
  return head.replaceAll(/\r\n([^:\r\n]+):/g, (_line, name: string) => `\r\n${properCase(name)}:`);
}

import type { ServerResponse } from 'node:http';

/** How a listener writes header names. */
export type HeaderCase = 'proper' | 'preserve' | undefined;

/** Start of a header name, or of a part of it. */
const PART = /(^|[^a-zA-Z0-9])[a-z]/g;
const LINE = /\r\n([^:\r\n]+):/g;

/** Returns a header name in title case, such as `Content-Type`. */
function properCase(name: string): string {
  return name.toLowerCase().replace(PART, (start) => start.toUpperCase());
}

/** Returns the head of a request with its header names in title case. */
export function withProperCase(head: string): string {
  return head.replaceAll(LINE, (_line, name: string) => `\r\n${properCase(name)}:`);
}

/** Returns the head of a request with its header names as in these headers, flat; other names are unchanged. */
export function withWrittenCase(head: string, written: readonly string[]): string {
  const names = new Map<string, string>();
  for (let i = 0; i < written.length; i += 2) {
    const lower = written[i]!.toLowerCase();
    if (!names.has(lower)) names.set(lower, written[i]!);
  }
  return head.replaceAll(LINE, (_line, name: string) => `\r\n${names.get(name.toLowerCase()) ?? name}:`);
}

/** Returns headers, flat, with their names in title case. */
export function properCaseNames(flat: readonly string[]): string[] {
  return flat.map((item, i) => (i % 2 === 0 ? properCase(item) : item));
}

const prepared = new WeakSet<ServerResponse>();

/** Writes the header names of a response in title case, whoever writes its head. Calling it again has no effect. */
export function writeProperCase(res: ServerResponse): void {
  if (prepared.has(res)) return;
  prepared.add(res);
  const write = res.writeHead.bind(res) as (...written: unknown[]) => ServerResponse;
  res.writeHead = ((...written: unknown[]) => {
    for (const name of res.getHeaderNames()) {
      const value = res.getHeader(name)!;
      res.removeHeader(name);
      res.setHeader(properCase(name), value);
    }
    return write(...written.map(properNames));
  }) as ServerResponse['writeHead'];
}

/** Changes the names if the argument of `writeHead` is headers, which are a flat list or an object. */
function properNames(argument: unknown): unknown {
  if (Array.isArray(argument))
    return argument.map((item: unknown, i) => (i % 2 === 0 && typeof item === 'string' ? properCase(item) : item));
  if (typeof argument !== 'object' || argument === null) return argument;
  return Object.fromEntries(Object.entries(argument).map(([name, value]) => [properCase(name), value]));
}

import type { OutgoingHttpHeader, OutgoingHttpHeaders, ServerResponse } from 'node:http';

type WrittenHeaders = OutgoingHttpHeaders | readonly OutgoingHttpHeader[];
/** The arguments of `ServerResponse.writeHead`. */
export type HeadArguments = [status: number, messageOrHeaders?: string | WrittenHeaders, headers?: WrittenHeaders];

export interface WrittenHead {
  readonly status: number;
  readonly message: string | undefined;
  /** Flat, with the headers that were set on the response before. */
  readonly headers: string[];
}

/** Returns the head that `writeHead` would send with these arguments. */
export function headOf(res: ServerResponse, [status, second, third]: HeadArguments): WrittenHead {
  const message = typeof second === 'string' ? second : res.statusMessage || undefined;
  const written = flatOf(typeof second === 'string' ? third : (second ?? third));
  if (!hasSetHeaders(res)) return { status, message, headers: written };
  const replaced = new Set(written.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase()));
  const before = setHeaders(res).filter(([name]) => !replaced.has(name.toLowerCase()));
  return { status, message, headers: [...before.flat(), ...written] };
}

export function hasSetHeaders(res: ServerResponse): boolean {
  return res.getHeaderNames().length > 0;
}

/** Replaces the headers that are set on a response. */
export function writeHeadTo(res: ServerResponse, flat: readonly string[]): void {
  const lists = new Map<string, { name: string; values: string[] }>();
  for (let i = 0; i < flat.length; i += 2) {
    const name = flat[i]!;
    const list = lists.get(name.toLowerCase());
    if (list) list.values.push(flat[i + 1]!);
    else lists.set(name.toLowerCase(), { name, values: [flat[i + 1]!] });
  }
  for (const name of res.getHeaderNames()) if (!lists.has(name)) res.removeHeader(name);
  for (const { name, values } of lists.values()) res.setHeader(name, values.length === 1 ? values[0]! : values);
}

/** Missing in the types of Node: the names as they were set. */
type NamedHeaders = ServerResponse & { getRawHeaderNames(): string[] };

function setHeaders(res: ServerResponse): [string, string][] {
  return (res as NamedHeaders).getRawHeaderNames().flatMap((name) => {
    const value = res.getHeader(name);
    return [value].flat().map((each): [string, string] => [name, String(each)]);
  });
}

function flatOf(headers: WrittenHeaders | undefined): string[] {
  if (headers === undefined) return [];
  if (!isList(headers)) {
    return Object.entries(headers).flatMap(([name, value]) => {
      return value === undefined ? [] : [value].flat().flatMap((each) => [name, String(each)]);
    });
  }
  // Node accepts a flat list, and a list of pairs.
  return headers.flat().map(String);
}

function isList(headers: WrittenHeaders): headers is readonly OutgoingHttpHeader[] {
  return Array.isArray(headers);
}

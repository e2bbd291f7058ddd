import type { IncomingMessage } from 'node:http';

/** The parts of a request that distinguish browsers from scripts. */
export interface RequestSigns {
  /** Upper case. */
  readonly method: string;
  /** With query, as the client sent it. */
  readonly path?: string;
  /** A request header by its lower-case name. */
  header(name: string): string | undefined;
}

/** Returns these parts of a `node:http` request, from the headers that the client sent. */
export function signsOf(req: IncomingMessage): RequestSigns {
  const { method = 'GET', url = '/', originalUrl = url } = req as IncomingMessage & { originalUrl?: string };
  return { method, path: originalUrl, header: (name) => sentHeader(req, name) };
}

/** The object `headers` is created when it is first read, which takes longer than looking for a few names. */
function sentHeader({ rawHeaders }: IncomingMessage, name: string): string | undefined {
  let value: string | undefined;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const written = rawHeaders[i]!;
    if (written.length !== name.length || written.toLowerCase() !== name) continue;
    value = value === undefined ? rawHeaders[i + 1]! : `${value}, ${rawHeaders[i + 1]!}`;
  }
  return value;
}

/**
 * Returns true for the navigation of a browser: by Fetch metadata
 * (`Sec-Fetch-Mode: navigate`), and for browsers without it by an `Accept` that contains `text/html`.
 */
export function isNavigation({ method, header }: RequestSigns): boolean {
  const mode = header('sec-fetch-mode');
  if (mode !== undefined) return mode === 'navigate';
  if (method !== 'GET' && method !== 'HEAD' && method !== 'POST') return false;
  if (header('x-requested-with') !== undefined) return false;
  const { html, json } = preferencesOf(header('accept'));
  return html > 0 && html >= json;
}

/**
 * Returns true if a client prefers JSON: its `Accept` names `application/json` or `application/problem+json`, with a quality at least that
 * of `text/plain` and above that of `text/html`. Wildcards do not count.
 */
export function prefersJson({ header }: Pick<RequestSigns, 'header'>): boolean {
  const { html, json, text } = preferencesOf(header('accept'));
  return json > 0 && json >= text && json > html;
}

const KINDS = new Map([
  ['text/html', 'html'],
  ['text/plain', 'text'],
  ['application/json', 'json'],
  ['application/problem+json', 'json'],
] as const);

/** Returns the qualities of the types that an `Accept` names; 0 for one that it does not name, or excludes. */
function preferencesOf(accept = ''): Record<'html' | 'json' | 'text', number> {
  const found = { html: 0, json: 0, text: 0 };
  for (const range of accept.split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const kind = (KINDS as ReadonlyMap<string, keyof typeof found>).get(type);
    if (kind) found[kind] = Math.max(found[kind], qualityOf(parameters));
  }
  return found;
}

/** Returns the weight of a range: 1 without one, or with one that is not a number (RFC 9110 §12.4.2). */
function qualityOf(parameters: readonly string[]): number {
  const written = parameters.find((parameter) => parameter.startsWith('q='));
  const quality = written === undefined ? 1 : Number(written.slice(2));
  return quality >= 0 && quality <= 1 ? quality : 1;
}

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
  const accept = header('accept');
  return accept !== undefined && acceptsHtml(accept);
}

function acceptsHtml(accept: string): boolean {
  return accept.split(',').some((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    return type === 'text/html' && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
  });
}

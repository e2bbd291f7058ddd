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
  const { method = 'GET', url = '/', headers, originalUrl = url } = req as IncomingMessage & { originalUrl?: string };
  return {
    method,
    path: originalUrl,
    header(name) {
      const value = headers[name];
      return Array.isArray(value) ? value.join(', ') : value;
    },
  };
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

/** The parts of a request that show who made it. */
export interface RequestSigns {
  /** Upper case. */
  readonly method: string;
  /** A request header by its lower-case name. */
  header(name: string): string | undefined;
}

/**
 * Returns true for the navigation of a browser, where a person reads the response: by Fetch metadata
 * (`Sec-Fetch-Mode: navigate`), and for browsers without it by an `Accept` that names `text/html`.
 */
export function isNavigation({ method, header }: RequestSigns): boolean {
  const mode = header('sec-fetch-mode');
  if (mode !== undefined) return mode === 'navigate';
  if (method !== 'GET' && method !== 'HEAD' && method !== 'POST') return false;
  if (header('x-requested-with') !== undefined) return false;
  return acceptsHtml(header('accept') ?? '');
}

function acceptsHtml(accept: string): boolean {
  return accept.split(',').some((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    return type === 'text/html' && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
  });
}

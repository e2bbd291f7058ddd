import type { AuthRequest } from '@edge-gateway/core';

/** Name of the line with method and path in a signature. */
export const REQUEST_TARGET = '@request-target';

/**
 * Returns the signed text: a line `name: value` for each header, with `@request-target: get /path?query` for the request target, joined with
 * line feeds. `undefined` if a header is missing or occurs more than once.
 */
export function signedText(request: AuthRequest, headers: readonly string[]): string | undefined {
  const lines: string[] = [];
  for (const name of headers) {
    const values = name === REQUEST_TARGET ? [targetOf(request)] : valuesOf(request, name);
    if (values.length !== 1) return undefined;
    lines.push(`${name}: ${values[0]}`);
  }
  return lines.join('\n');
}

function targetOf({ method, path }: AuthRequest): string {
  return `${method.toLowerCase()} ${path}`;
}

/** Returns the values of a header, each occurrence its own. */
export function valuesOf(request: AuthRequest, name: string): string[] {
  const flat = request.headers();
  const values: string[] = [];
  for (let i = 0; i < flat.length; i += 2) if (flat[i] === name) values.push(flat[i + 1]!);
  return values;
}

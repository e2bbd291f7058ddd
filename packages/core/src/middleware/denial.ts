import { http } from '../http/node-http.ts';
import type { AuthDenied } from '../contract/auth-method.ts';
import { GatewayError } from '../errors.ts';
import type { Facts } from '../contract/facts.ts';

/**
 * Returns the error of a denial, for `next(error)` in a user's own server. Its headers are those of the denial; repeated
 * headers and cookies are recorded on the response. The message is the reason phrase of the status; the reason is the
 * cause, which is not sent to clients.
 */
export function denialError(
  { status, headers = [], body = '', reason, code }: AuthDenied,
  facts: Facts,
  fallback: string,
): GatewayError {
  const single: Record<string, string> = {};
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]!.toLowerCase();
    const value = headers[i + 1]!;
    const isRepeated = headers.some((each, at) => at % 2 === 0 && at !== i && each.toLowerCase() === name);
    if (isRepeated || name === 'set-cookie') facts.responseChanges.push({ op: 'append', name, value });
    else single[name] = value;
  }
  return new GatewayError(http.STATUS_CODES[status] ?? `status ${status}`, {
    code: code ?? fallback,
    status,
    headers: single,
    reply: { body, isFinal: true },
    cause: new Error(reason),
  });
}

import { GatewayError } from '@edge-gateway/core';
import { cliError } from '../error-codes.ts';

/** A request as it is written on the command line. */
export interface WrittenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string[]>;
}

/** Collects the values of a repeatable option. */
export const collect = (value: string, before: readonly string[] = []): string[] => [...before, value];

/** Parses method, URL and `name: value` headers. Throws `ERR_CLI_USAGE` if one of them is invalid. */
export function parseRequest(method: string, url: string, headers: readonly string[] = []): WrittenRequest {
  return { method: checkMethod(method), url: checkUrl(url), headers: parseHeaders(headers) };
}

function checkMethod(method: string): string {
  if (/^[A-Za-z][A-Za-z-]*$/.test(method)) return method;
  throw cliError('ERR_CLI_USAGE', `invalid method '${method}': must be a method such as GET`);
}

function checkUrl(url: string): string {
  if (url === '*' || /^https?:\/\/[^/\s]\S*$/i.test(url)) return url;
  const message = `invalid URL '${url}': must be an absolute URL such as http://shop.example/cart`;
  throw cliError('ERR_CLI_USAGE', message);
}

/** Parses the JSON object of claims; `name` is that of its flag or field. */
export function parseClaims(written: string | undefined, name = '--claims'): Record<string, unknown> | undefined {
  if (written === undefined) return undefined;
  try {
    const claims: unknown = JSON.parse(written);
    if (typeof claims === 'object' && claims !== null && !Array.isArray(claims))
      return claims as Record<string, unknown>;
  } catch {
    // Rejected below, like JSON that is not an object.
  }
  throw cliError('ERR_CLI_USAGE', `${name} must be a JSON object, e.g. '{"email":"a@example.com"}'`);
}

/** Reads `name: value` headers; several of one name make a list. */
function parseHeaders(written: readonly string[]): Record<string, string[]> {
  const headers: Record<string, string[]> = Object.create(null) as Record<string, string[]>;
  for (const header of written) {
    const match = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*)$/.exec(header);
    if (!match) throw cliError('ERR_CLI_USAGE', `invalid header '${header}': write 'name: value'`);
    const name = match[1]!.toLowerCase();
    (headers[name] ??= []).push(match[2]!);
  }
  return headers;
}

/** Runs an explanation; its errors become those of the command. */
export async function attempt<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof GatewayError) throw cliError('ERR_CLI_USAGE', error.message, error);
    const text = 'cannot read the served configuration; compare the versions with gatewayctl version';
    throw cliError('ERR_CLI_BAD_ANSWER', text, error);
  }
}

/** The status of a response from the gateway itself, or `forwarded`. */
export type ExpectedOutcome = number | 'forwarded';

/** Parses the value of `--expect-status`. Throws `ERR_CLI_USAGE` unless it is a status or `forwarded`. */
export function parseExpectedOutcome(written: string): ExpectedOutcome {
  if (written === 'forwarded') return written;
  if (/^[1-9]\d\d$/.test(written)) return Number(written);
  throw cliError(
    'ERR_CLI_USAGE',
    `invalid --expect-status '${written}': must be a status from 100 to 999, or forwarded`,
  );
}

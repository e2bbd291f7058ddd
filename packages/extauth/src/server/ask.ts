import { freezeDeep, parseJson, readLimited } from '@edge-gateway/core';
import { UnusableAnswer } from '../chain/failure.ts';

/** Maximum size of a response in bytes. */
export const MAX_ANSWER_BYTES = 262_144;

type JsonObject = Readonly<Record<string, unknown>>;

interface Question {
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal | undefined;
  /** Statuses with which the server rejects the token, not the call. */
  readonly refusals?: readonly number[];
}

/**
 * Fetches a JSON object and freezes it. Rejects with `ERR_EXTAUTH_ANSWER`, which names the server, if the server cannot be reached, and for
 * a response that is a redirect, has another status than 200, is too long or is not a JSON object; with the reason of the signal if that aborts.
 */
export async function askJson(url: string, question: Question & { readonly refusals?: never }): Promise<JsonObject>;
/** The same; `undefined` for a response with one of the statuses `refusals`. */
export async function askJson(url: string, question: Question): Promise<JsonObject | undefined>;
export async function askJson(url: string, question: Question): Promise<JsonObject | undefined> {
  const { signal, refusals, ...init } = question;
  const host = URL.parse(url)?.host ?? 'the address';
  const unusable = (what: string, more: { readonly answered?: number; readonly cause?: unknown } = {}) =>
    new UnusableAnswer(`${host} ${what}`, more);
  let answer: Response;
  let body: Buffer | undefined;
  try {
    const headers = { ...init.headers, 'accept-encoding': 'identity' };
    answer = await fetch(url, { ...init, headers, redirect: 'error', ...(signal && { signal }) });
    body = await readLimited(answer.body, MAX_ANSWER_BYTES);
  } catch (cause) {
    if (signal?.aborted) throw cause;
    throw unusable('cannot be reached', { cause });
  }
  if (refusals?.includes(answer.status)) return undefined;
  if (!body) throw unusable('sent a response that is too long');
  if (answer.status !== 200) throw unusable(`responded with status ${answer.status}`, { answered: answer.status });
  try {
    const value = parseJson(body.toString('utf8').replace(/^\ufeff/, ''));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return freezeDeep(value as JsonObject);
  } catch (cause) {
    throw unusable('returned a response that is not JSON', { cause });
  }
  throw unusable('returned a response that is not a JSON object');
}

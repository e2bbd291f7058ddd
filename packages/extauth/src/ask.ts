import { GatewayError } from '@edge-gateway/core';

/** Longest answer that is read, in bytes. */
export const MAX_ANSWER_BYTES = 262_144;

export interface Question {
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Asks a server for a JSON object. Rejects with `ERR_EXTAUTH_ANSWER` for an answer that is none, has another status than
 * 200 or is too long, and with the platform's errors when nobody answers. Redirects are refused.
 */
export async function askJson(url: string, question: Question): Promise<Readonly<Record<string, unknown>>> {
  const { signal, ...init } = question;
  const answer = await fetch(url, { ...init, redirect: 'error', ...(signal && { signal }) });
  const text = await bodyOf(answer);
  if (answer.status !== 200) throw unusable(`status ${answer.status}`);
  try {
    const value = JSON.parse(text) as unknown;
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch (cause) {
    throw unusable('no JSON', cause);
  }
  throw unusable('no JSON object');
}

async function bodyOf(answer: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of answer.body ?? []) {
    size += chunk.length;
    if (size > MAX_ANSWER_BYTES) throw unusable('too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function unusable(what: string, cause?: unknown): GatewayError {
  return new GatewayError(`the answer cannot be used: ${what}`, { code: 'ERR_EXTAUTH_ANSWER', status: 502, cause });
}

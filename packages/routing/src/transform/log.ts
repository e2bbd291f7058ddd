import { isUtf8 } from 'node:buffer';
import {
  isSecretHeader,
  parseJson,
  REDACTED_IN_LOG,
  redact,
  redactPath,
  redactText,
  type Logger,
} from '@edge-gateway/core';
import type { Message } from './message.ts';
import type { ChangeMessage } from './transformation.ts';

/** Longer bodies are cut, in bytes. */
const MAX_BODY = 4096;

/** Logs the messages before and after a change at level debug, without secrets. */
export function logged(change: ChangeMessage, side: 'request' | 'response', log: Logger): ChangeMessage {
  return {
    readsBody: change.readsBody,
    apply(message, body) {
      const { requestId } = message.facts;
      log.debug({ requestId, ...describe(message, body) }, `${side} before transformation`);
      const changed = change.apply(message, body);
      log.debug({ requestId, ...describe(message, changed ?? body) }, `${side} after transformation`);
      return changed;
    },
  };
}

function describe(message: Message, body: Buffer): object {
  const isRequest = message.request === message;
  const line = isRequest
    ? { method: message.first(':method'), path: redactPath(message.first(':path')) }
    : { status: message.first(':status') };
  return { ...line, headers: headersOf(message.headers), body: bodyOf(body) };
}

function headersOf(flat: readonly string[]): Record<string, string> {
  const pairs = flat.flatMap((name, i) => {
    if (i % 2 === 1) return [];
    const lower = name.toLowerCase();
    return [[lower, isSecretHeader(lower) ? REDACTED_IN_LOG : redactText(flat[i + 1]!)] as const];
  });
  return Object.fromEntries(pairs);
}

function bodyOf(body: Buffer): string {
  if (!isUtf8(body)) return `${body.length} bytes`;
  const text = withoutSecrets(body.toString('utf8'));
  return text.length > MAX_BODY ? `${text.slice(0, MAX_BODY)}…` : text;
}

/** A form is redacted like a query, JSON by the names of its members. */
function withoutSecrets(text: string): string {
  try {
    return JSON.stringify(redact(parseJson(text)));
  } catch {
    return redactText(redactPath(`?${text}`).slice(1));
  }
}

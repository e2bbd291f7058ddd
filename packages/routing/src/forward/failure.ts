import { ERROR_CODES, type RoutingErrorCode } from '../error-codes.ts';
import type { ForwardFailure } from './forward.ts';

/** An upstream answered something that is not the HTTP we speak with it. */
export class UpstreamProtocolError extends Error {
  readonly code = 'ERR_ROUTING_UPSTREAM_PROTOCOL';
}

/** Why an exchange failed: what the caller answers, the response flag, and what to log. */
export interface FailureReason {
  readonly failure: ForwardFailure;
  readonly flags: string;
  readonly details: string;
}

/** How far an exchange had come. */
export type Phase = 'connecting' | 'sent';

/** Makes the failure of an error code. */
export function failureOf(code: RoutingErrorCode): ForwardFailure {
  return { status: ERROR_CODES[code].status, code, message: ERROR_CODES[code].message };
}

/** Says why an exchange failed, from the error undici gave. */
export function explain(error: Error, phase: Phase): FailureReason {
  const code = codeOf(error);
  const because = (routing: RoutingErrorCode, flags: string): FailureReason => ({
    failure: failureOf(routing),
    flags,
    details: [code, error.message].filter(Boolean).join(' '),
  });
  if (code === 'UND_ERR_INVALID_ARG' || code === 'UND_ERR_NOT_SUPPORTED')
    return because('ERR_ROUTING_FORWARD_REQUEST', '');
  if (phase === 'connecting') {
    const slow = code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT';
    return because(slow ? 'ERR_ROUTING_UPSTREAM_CONNECT_TIMEOUT' : 'ERR_ROUTING_UPSTREAM_CONNECT', 'UF');
  }
  return isProtocolError(error, code)
    ? because('ERR_ROUTING_UPSTREAM_PROTOCOL', 'UPE')
    : because('ERR_ROUTING_UPSTREAM_RESET', 'UC');
}

/** Whether the other side ended the connection, as it may at any time while nothing is under way. */
export function isDisconnect(error: Error): boolean {
  const code = codeOf(error);
  return code === 'ECONNRESET' || code === 'EPIPE' || (code === 'UND_ERR_SOCKET' && !isProtocolError(error, code));
}

function isProtocolError(error: Error, code: string): boolean {
  if (error instanceof UpstreamProtocolError || error.name === 'HTTPParserError' || code.startsWith('HPE_')) {
    return true;
  }
  // undici gives both the code of a closed connection.
  if (code === 'UND_ERR_SOCKET') return error.message === 'bad response' || error.message === 'bad upgrade';
  return (
    code === 'UND_ERR_HEADERS_OVERFLOW' || code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH' || code === 'ERR_ASSERTION'
  );
}

function codeOf(error: Error): string {
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === 'string' ? code : '';
}

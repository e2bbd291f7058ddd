import { GatewayError, type ErrorReply } from '@edge-gateway/core';
import { ERROR_CODES, type RoutingErrorCode } from '../error-codes.ts';
import { RequestHeadError, UpstreamClosedError, UpstreamProtocolError } from '../http1/errors.ts';

export interface ForwardFailure {
  /** 502 not HTTP, 503 refused, reset, or no endpoint, 504 too slow. */
  readonly status: number;
  /** `ERR_ROUTING_…`. */
  readonly code: string;
  /** Short plain text for the body. */
  readonly message: string;
  /** The response, if it is not the message. */
  readonly reply?: ErrorReply | undefined;
}

/** Why an exchange failed: the response to the caller, the response flag, and the detail to log. */
export interface FailureReason {
  readonly failure: ForwardFailure;
  readonly flags: string;
  readonly details: string;
}

/** The progress of an exchange. */
export type Phase = 'connecting' | 'sent';

/** Returns the failure for an error code. */
export function failureOf(code: RoutingErrorCode): ForwardFailure {
  return { code, ...ERROR_CODES[code] };
}

/** Creates the error of a failure; its details are for the log. */
export function errorOf({ status, code, message }: ForwardFailure, details: string): GatewayError {
  return new GatewayError(message, { status, code, cause: new Error(details) });
}

/** Returns why an exchange failed, from the error that ended it. */
export function explain(error: Error, phase: Phase): FailureReason {
  if (error instanceof GatewayError) return failedFilter(error);
  const code = codeOf(error);
  const because = (routing: RoutingErrorCode, flags: string): FailureReason => ({
    failure: failureOf(routing),
    flags,
    details: [code, error.message].filter(Boolean).join(' '),
  });
  if (error instanceof RequestHeadError) return because('ERR_ROUTING_FORWARD_REQUEST', '');
  if (phase === 'connecting') {
    const slow = code === 'ETIMEDOUT';
    return because(slow ? 'ERR_ROUTING_UPSTREAM_CONNECT_TIMEOUT' : 'ERR_ROUTING_UPSTREAM_CONNECT', 'UF');
  }
  // Node's parser reads the handshake of an upgrade; its codes have this prefix.
  return error instanceof UpstreamProtocolError || code.startsWith('HPE_')
    ? because('ERR_ROUTING_UPSTREAM_PROTOCOL', 'UPE')
    : because('ERR_ROUTING_UPSTREAM_RESET', 'UC');
}

/** The body of the request could not be sent, because a filter rejected it. */
function failedFilter({ status, code, message, reply }: GatewayError): FailureReason {
  return { failure: { status, code, message, reply }, flags: reply?.flags ?? '', details: reply?.details ?? message };
}

/** Returns true if the peer ended the connection, which it may do at any time between exchanges. */
export function isDisconnect(error: Error): boolean {
  const code = codeOf(error);
  return error instanceof UpstreamClosedError || code === 'ECONNRESET' || code === 'EPIPE';
}

function codeOf(error: Error): string {
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === 'string' ? code : '';
}

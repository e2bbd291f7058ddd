import * as util from 'node:util';
import { GatewayError, type ErrorReply } from '@edge-gateway/core';
import { ERROR_CODES, type RoutingErrorCode } from '../error-codes.ts';
import { ConnectionOverflowError } from './connection-limit.ts';
import { RequestHeadError, UpstreamClosedError, UpstreamProtocolError, UpstreamResetError } from '../http1/errors.ts';

/** Why a request has no response of its upstream, and the response to send instead. */
export interface ForwardFailure {
  /** 502 not HTTP, 503 refused, reset, overflow, or no endpoint, 504 too slow. */
  readonly status: number;
  /** `ERR_ROUTING_…`. */
  readonly code: string;
  /** Short plain text for the body. */
  readonly message: string;
  /** The response, if it is not the message. */
  readonly reply?: ErrorReply | undefined;
  /** Headers of the response. Default: none. */
  readonly headers?: GatewayError['headers'];
}

/** Why an attempt was reset, in Envoy's words. */
export type ResetReason =
  | 'remote connection failure'
  | 'connection timeout'
  | 'connection termination'
  | 'remote reset'
  | 'remote refused stream reset'
  | 'remote error with CONNECT request'
  | 'protocol error'
  | 'overflow'
  | 'local reset';

/** Why an exchange failed: the response to the caller, the response flag, and the texts to log. */
export interface FailureReason {
  readonly failure: ForwardFailure;
  readonly flags: string;
  /** Response code details, as Envoy writes them. */
  readonly details: string;
  /** Set if the attempt was reset, so that retry conditions may apply. */
  readonly reset?: ResetReason;
  /** Text of the error of the connection, for the log. */
  readonly cause?: string;
  /** True if the gateway failed: nothing is reported about the host. */
  readonly isLocal?: boolean;
}

/** The progress of an exchange. */
export type Phase = 'connecting' | 'sent';

/** Returns the failure for an error code. */
export function failureOf(code: RoutingErrorCode): ForwardFailure {
  return { code, ...ERROR_CODES[code] };
}

/** Creates the error of a failure; its cause is for the log. */
export function errorOf({ failure, details, cause = details }: FailureReason, upstream: string): GatewayError {
  const { status, code, message } = failure;
  return new GatewayError(message, { status, code, cause: new Error(`${upstream}: ${cause}`) });
}

/** The failure of a request for which no endpoint can be used. */
export function noEndpoint(cause: string): FailureReason {
  return { failure: failureOf('ERR_ROUTING_NO_ENDPOINT'), flags: 'UH', details: 'no_healthy_upstream', cause };
}

/** The failure of a request above a limit of its upstream. */
export function overflow(cause: string): FailureReason {
  return { ...resetOf('ERR_ROUTING_UPSTREAM_OVERFLOW', 'UO', 'overflow'), cause };
}

/** Returns why an exchange failed, from the error that ended it. */
export function explain(error: Error, phase: Phase): FailureReason {
  if (error instanceof GatewayError) return failedFilter(error);
  const code = codeOf(error);
  const cause = [code, error.message].filter(Boolean).join(' ');
  if (error instanceof RequestHeadError) {
    return { failure: failureOf('ERR_ROUTING_FORWARD_REQUEST'), flags: '', details: cause, cause };
  }
  if (error instanceof ConnectionOverflowError) return overflow(error.message);
  if (phase === 'connecting') {
    if (code === 'ETIMEDOUT')
      return { ...resetOf('ERR_ROUTING_UPSTREAM_CONNECT_TIMEOUT', 'UF', 'connection timeout'), cause };
    const reason = connectFailure(error, code);
    return { ...resetOf('ERR_ROUTING_UPSTREAM_CONNECT', 'UF', 'remote connection failure', reason), cause };
  }
  // Node's parser reads the handshake of an upgrade; its codes have this prefix.
  if (error instanceof UpstreamProtocolError || code.startsWith('HPE_')) {
    return { ...resetOf('ERR_ROUTING_UPSTREAM_PROTOCOL', 'UPE', 'protocol error', error.message), cause };
  }
  if (error instanceof UpstreamResetError) {
    return { ...resetOf('ERR_ROUTING_UPSTREAM_RESET', 'UR', remoteReset(error)), cause };
  }
  return { ...resetOf('ERR_ROUTING_UPSTREAM_RESET', 'UC', 'connection termination'), cause };
}

function remoteReset({ isRefused, isUnprocessed, isConnectError }: UpstreamResetError): ResetReason {
  if (isRefused || isUnprocessed) return 'remote refused stream reset';
  return isConnectError ? 'remote error with CONNECT request' : 'remote reset';
}

/** The failure of an attempt that was reset before a response. */
function resetOf(code: RoutingErrorCode, flags: string, reset: ResetReason, transport = ''): FailureReason {
  const inner = transport === '' ? reset : `${reset}|${transport}`;
  const details = `upstream_reset_before_response_started{${inner.replace(/\s/g, '_')}}`;
  return { failure: failureOf(code), flags, details, reset };
}

/** TLS error codes contain an underscore. */
const DNS_CODE = /^E[A-Z]+$/;

function connectFailure(error: Error, code: string): string {
  if (isOfSystem(error, code)) return `delayed connect error: ${connectFailureText(error)}`;
  return isOfName(error, code) || code === '' ? connectFailureText(error) : `TLS_error:|${code}:TLS_error_end`;
}

/**
 * Returns why a connection could not be opened, for people: `Connection refused`, `connection timeout`, `dns resolution failure: ENOTFOUND`,
 * `TLS: CERT_HAS_EXPIRED`.
 */
export function connectFailureText(error: Error): string {
  const code = codeOf(error);
  if (code === 'ETIMEDOUT') return 'connection timeout';
  if (isOfName(error, code)) return `dns resolution failure: ${code}`;
  if (!isOfSystem(error, code)) return code === '' ? error.message : `TLS: ${code}`;
  const text = util.getSystemErrorMessage((error as NodeJS.ErrnoException).errno!);
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

function isOfName(error: Error, code: string): boolean {
  const { errno, syscall = '' } = error as NodeJS.ErrnoException;
  return DNS_CODE.test(code) && (errno === undefined || syscall === 'getaddrinfo');
}

function isOfSystem(error: Error, code: string): boolean {
  const { errno } = error as NodeJS.ErrnoException;
  return errno !== undefined && errno < 0 && !isOfName(error, code);
}

/** Returns the failure with Envoy's body of a reset. The reason of the connection is only logged: it could tell clients too much. */
export function withResetText({ failure, reset }: FailureReason, retried: boolean): ForwardFailure {
  if (reset === undefined || reset === 'local reset') return failure;
  const again = retried ? 'retried and the latest ' : '';
  const message = `upstream connect error or disconnect/reset before headers. ${again}reset reason: ${reset}`;
  return { ...failure, message };
}

/** Returns the details of a failure after the head of the response. */
export function lateDetails(details: string): string {
  return details.replace('upstream_reset_before_response_started', 'upstream_reset_after_response_started');
}

/** The body of the request could not be sent, because a filter rejected it. */
function failedFilter({ status, code, message, reply, headers }: GatewayError): FailureReason {
  const failure = { status, code, message, reply, headers };
  return { failure, flags: reply?.flags ?? '', details: reply?.details ?? message, isLocal: true };
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

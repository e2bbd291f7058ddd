import { startTimer } from '@edge-gateway/core';
import { expireCall } from '@edge-gateway/core/grpc';
import type { ClientDuplexStream, ServiceError } from '@grpc/grpc-js';
import type { ImmediateResponse, Part, ProcessingRequest, ProcessingResponse } from './messages.ts';

/** A server that does not process a message as the protocol says. */
export class ProcessingFailure extends Error {
  override readonly name = 'ProcessingFailure';
  /** `%RESPONSE_CODE_DETAILS%`. */
  readonly details: string;
  readonly isTimeout: boolean;

  constructor(message: string, details: string, isTimeout = false) {
    super(message);
    this.details = details;
    this.isTimeout = isTimeout;
  }
}

/** Thrown for a response that the server writes itself. */
export class ImmediateReply extends Error {
  override readonly name = 'ImmediateReply';
  readonly reply: ImmediateResponse;

  constructor(reply: ImmediateResponse) {
    super('the server responds itself');
    this.reply = reply;
  }
}

export type ProcessorStream = ClientDuplexStream<ProcessingRequest, ProcessingResponse>;

interface Waiter {
  readonly part: Part;
  readonly resolve: (response: ProcessingResponse | undefined) => void;
  readonly reject: (error: Error) => void;
  timer: NodeJS.Timeout;
  isExtended: boolean;
}

export interface CallLimits {
  readonly messageTimeoutMs: number;
  readonly maxMessageTimeoutMs: number;
}

/**
 * The call for one request and its response: messages are sent one after the other, and each waits for the response of its part. It ends with the first
 * failure.
 */
export class ProcessingCall {
  /** Why nothing is sent any more; `undefined` while the call is open. */
  ended: 'server' | 'failed' | 'closed' | undefined;
  readonly #stream: ProcessorStream;
  readonly #limits: CallLimits;
  readonly #onMessage: (direction: 'sent' | 'received') => void;
  readonly #waiting: Waiter[] = [];

  constructor(stream: ProcessorStream, limits: CallLimits, onMessage: (direction: 'sent' | 'received') => void) {
    this.#stream = stream;
    this.#limits = limits;
    this.#onMessage = onMessage;
    stream.on('data', (response: ProcessingResponse) => this.#receive(response));
    stream.on('error', (error: ServiceError) => this.#fail(grpcFailure(error)));
    stream.on('end', () => this.#endedByServer());
  }

  /**
   * Sends a part and returns the response to it; `undefined` if the server has ended the call, so that it processes nothing more. Rejects with
   * {@link ImmediateReply}, or with {@link ProcessingFailure}.
   */
  process(part: Part, request: ProcessingRequest): Promise<ProcessingResponse | undefined> {
    if (this.ended === 'server') return Promise.resolve(undefined);
    if (this.ended) return Promise.reject(new ProcessingFailure('the call has ended', 'ext_proc_error_ended'));
    return new Promise((resolve, reject) => {
      const timer = startTimer(() => this.#expire(), this.#limits.messageTimeoutMs);
      this.#waiting.push({ part, resolve, reject, timer, isExtended: false });
      this.#onMessage('sent');
      this.#stream.write(request);
    });
  }

  /** Ends the call; what is still processed is dropped. */
  close(): void {
    if (this.ended) return;
    this.ended = 'closed';
    this.#settle((waiter) => waiter.reject(new ProcessingFailure('the request has ended', 'ext_proc_error_ended')));
    this.#leave();
  }

  /** A server that does not end the call must not keep it. */
  #leave(): void {
    this.#stream.end();
    this.#stream.cancel();
  }

  #receive(response: ProcessingResponse): void {
    if (this.ended) return;
    this.#onMessage('received');
    const { overrideMessageTimeout: timeout, immediateResponse } = response;
    if (timeout) return this.#extend(timeout.seconds * 1000 + timeout.nanos / 1e6);
    if (response.response === 'immediateResponse' && immediateResponse) {
      this.ended = 'closed';
      this.#settle((waiter) => waiter.reject(new ImmediateReply(immediateResponse)));
      return this.#leave();
    }
    const index = this.#waiting.findIndex(({ part }) => part === response.response);
    if (index < 0) return this.#fail(new ProcessingFailure('unexpected message', 'ext_proc_error_spurious_message'));
    const [waiter] = this.#waiting.splice(index, 1);
    clearTimeout(waiter!.timer);
    waiter!.resolve(response);
  }

  /** The server needs more time for the message that it processes; accepted once for each. */
  #extend(milliseconds: number): void {
    const [waiter] = this.#waiting;
    if (!waiter || waiter.isExtended || milliseconds < 1 || milliseconds > this.#limits.maxMessageTimeoutMs) return;
    clearTimeout(waiter.timer);
    waiter.isExtended = true;
    waiter.timer = startTimer(() => this.#expire(), milliseconds);
  }

  #expire(): void {
    const details = 'ext_proc_error_per-message_timeout_exceeded';
    this.#fail(new ProcessingFailure('the server did not respond in time', details, true), expireCall);
  }

  #endedByServer(): void {
    if (this.ended) return;
    this.ended = 'server';
    this.#settle((waiter) => waiter.resolve(undefined));
    this.#stream.end();
  }

  #fail(failure: ProcessingFailure, end = (stream: ProcessorStream): void => stream.cancel()): void {
    if (this.ended) return;
    this.ended = 'failed';
    this.#settle((waiter) => waiter.reject(failure));
    end(this.#stream);
  }

  #settle(settle: (waiter: Waiter) => void): void {
    for (const waiter of this.#waiting.splice(0)) {
      clearTimeout(waiter.timer);
      settle(waiter);
    }
  }
}

function grpcFailure({ code, details }: ServiceError): ProcessingFailure {
  return new ProcessingFailure(`gRPC status ${code}: ${details}`, `ext_proc_error_gRPC_error_${code}`);
}

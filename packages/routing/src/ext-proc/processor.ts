import { GatewayError } from '@edge-gateway/core';
import { replyError } from '../error-codes.ts';
import { RejectedMutation } from './mutations.ts';
import { ImmediateReply, ProcessingCall, ProcessingFailure, type ProcessorStream } from './processing-call.ts';
import type { HeaderValue, Part, ProcessingRequest, ProcessingResponse } from './messages.ts';
import type { ProcessingMode, ProcessorSettings } from './settings.ts';
import type { ProcessorStats } from './processor-stats.ts';
import { immediateError } from './immediate.ts';

export interface ProcessorParts {
  readonly settings: ProcessorSettings;
  readonly stats: ProcessorStats;
  /** Opens a call. Throws if there is no server. */
  readonly open: () => Promise<ProcessorStream>;
  readonly log: (reason: string, requestId: string) => void;
}

/** The processing of one request and its response. */
export class Processor {
  mode: ProcessingMode;
  /** True if nothing more is sent: the server replaced a body, responded itself, ended the call, or failed. */
  isDone = false;
  readonly settings: ProcessorSettings;
  readonly #parts: ProcessorParts;
  readonly #requestId: string;
  #call: Promise<ProcessingCall> | undefined;
  #isClosed = false;
  #hasEnded = false;

  constructor(parts: ProcessorParts, requestId: string) {
    this.settings = parts.settings;
    this.mode = parts.settings.mode;
    this.#parts = parts;
    this.#requestId = requestId;
  }

  /** Sends a part; returns `undefined` if the message is not processed any more. Rejects with the response to the client. */
  async process(part: Part, request: ProcessingRequest): Promise<ProcessingResponse | undefined> {
    if (this.isDone) return undefined;
    try {
      const response = await this.#send(part, request);
      if (!response) this.isDone = true;
      return response;
    } catch (error) {
      return this.fail(error);
    }
  }

  /** Ends the processing: throws the response to the client, or returns if failures are allowed. */
  fail(error: unknown): undefined {
    this.isDone = true;
    this.#end();
    if (error instanceof ImmediateReply) throw immediateError(error.reply, this.settings.rules);
    // The client has disconnected, which is no failure of the server.
    if (this.#isClosed) throw error;
    const { stats } = this.#parts;
    const reason = error instanceof Error ? error.message : String(error);
    if (error instanceof ProcessingFailure && error.isTimeout) stats.timeouts.value++;
    stats.failed.value++;
    this.#parts.log(reason, this.#requestId);
    if (this.settings.allowsFailures) {
      stats.allowed.value++;
      return undefined;
    }
    const details = error instanceof ProcessingFailure ? error.details : detailsOf(error);
    if (error instanceof GatewayError) throw error;
    const isTimeout = error instanceof ProcessingFailure && error.isTimeout;
    throw replyError(isTimeout ? 'ERR_ROUTING_EXT_PROC_TIMEOUT' : 'ERR_ROUTING_EXT_PROC', { body: '', details });
  }

  /** The response has ended, or the client has disconnected. */
  close(): void {
    this.#isClosed = true;
    this.#end();
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#call?.then(
      (call) => {
        call.close();
        this.#parts.stats.closed.value++;
      },
      // It was not opened.
      () => undefined,
    );
  }

  /** The part of a list of headers that is sent to the server. */
  forwarded(flat: readonly string[]): HeaderValue[] {
    const headers: HeaderValue[] = [];
    for (let i = 0; i < flat.length; i += 2) {
      const key = flat[i]!.toLowerCase();
      if (this.settings.isForwarded(key)) headers.push({ key, rawValue: Buffer.from(flat[i + 1]!, 'latin1') });
    }
    return headers;
  }

  /** Counts a change that the rules reject. */
  readonly onRejected = (): void => void this.#parts.stats.rejected.value++;

  async #send(part: Part, request: ProcessingRequest): Promise<ProcessingResponse | undefined> {
    for (let retry = 0; ; retry++) {
      const isFirst = this.#call === undefined;
      const call = await (this.#call ??= this.#open());
      try {
        return await call.process(part, request);
      } catch (error) {
        const isUnanswered = isFirst && error instanceof ProcessingFailure && error.details === UNAVAILABLE;
        if (!isUnanswered || retry >= this.settings.retries || this.#hasEnded) throw error;
        this.#call = undefined;
      }
    }
  }

  async #open(): Promise<ProcessingCall> {
    const { open, stats, settings } = this.#parts;
    const stream = await open();
    stats.started.value++;
    return new ProcessingCall(stream, settings, (direction) => void stats[direction].value++);
  }
}

/** The server was not reached, so that it has processed nothing. */
const UNAVAILABLE = 'ext_proc_error_gRPC_error_14';

function detailsOf(error: unknown): string {
  return error instanceof RejectedMutation ? 'ext_proc_error_invalid_header_mutation' : 'ext_proc_error';
}

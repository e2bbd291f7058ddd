import { delayOf } from '@edge-gateway/core';
import type { ExtProc } from '@edge-gateway/core/schema';
import { compileStringMatcher } from '../route/match/string-matcher.ts';
import { compileMutationRules, type MutationRules } from './mutation-rules.ts';
import type { ModeOverride } from './messages.ts';

const HEADER_MODES = ['DEFAULT', 'SEND', 'SKIP'] as const;
const BODY_MODES = ['NONE', 'STREAMED', 'BUFFERED', 'BUFFERED_PARTIAL'] as const;

export type BodyMode = (typeof BODY_MODES)[number];

/** What is sent to the server. */
export interface ProcessingMode {
  readonly requestHeaders: boolean;
  readonly responseHeaders: boolean;
  readonly requestBody: BodyMode;
  readonly responseBody: BodyMode;
  readonly requestTrailers: boolean;
  readonly responseTrailers: boolean;
}

/** A compiled block. */
export interface ProcessorSettings {
  readonly mode: ProcessingMode;
  readonly allowsModeOverride: boolean;
  readonly allowsFailures: boolean;
  readonly keepsRoute: boolean;
  readonly messageTimeoutMs: number;
  /** 0 accepts no other timeout. */
  readonly maxMessageTimeoutMs: number;
  /** Of the whole call; `undefined` is no limit. */
  readonly callTimeoutMs: number | undefined;
  readonly retries: number;
  /** Sent with the call. */
  readonly metadata: readonly (readonly [key: string, value: string])[];
  readonly isForwarded: (header: string) => boolean;
  readonly rules: MutationRules;
  readonly namespaces: readonly string[];
  readonly maxBodyBytes: number;
}

const DEFAULT_MESSAGE_TIMEOUT_MS = 200;
/** Body that is held in memory if the listener has no limit of its own. */
const DEFAULT_BODY_BYTES = 1_048_576;

/** Compiles a block. Throws for invalid expressions. */
export function compileSettings(options: ExtProc, maxBodyBytes = DEFAULT_BODY_BYTES): ProcessorSettings {
  const { grpcService = {}, processingMode = {}, forwardRules, messageTimeout, maxMessageTimeout } = options;
  const allowed = forwardRules?.allowedHeaders?.patterns?.map(compileStringMatcher);
  return {
    mode: {
      requestHeaders: processingMode.requestHeaderMode !== 'SKIP',
      responseHeaders: processingMode.responseHeaderMode !== 'SKIP',
      requestBody: processingMode.requestBodyMode ?? 'NONE',
      responseBody: processingMode.responseBodyMode ?? 'NONE',
      requestTrailers: processingMode.requestTrailerMode === 'SEND',
      responseTrailers: processingMode.responseTrailerMode === 'SEND',
    },
    allowsModeOverride: options.allowModeOverride === true,
    allowsFailures: options.failureModeAllow === true,
    keepsRoute: options.disableClearRouteCache === true,
    messageTimeoutMs: delayOf(messageTimeout) ?? DEFAULT_MESSAGE_TIMEOUT_MS,
    maxMessageTimeoutMs: delayOf(maxMessageTimeout) ?? 0,
    callTimeoutMs: delayOf(grpcService.timeout) || undefined,
    retries: grpcService.retryPolicy?.numRetries ?? 0,
    metadata: (grpcService.initialMetadata ?? []).map(({ key = '', value = '' }) => [key.toLowerCase(), value]),
    isForwarded: (header) => !allowed || allowed.some((matches) => matches(header)),
    rules: compileMutationRules(options.mutationRules),
    namespaces: options.metadataContextNamespaces ?? [],
    maxBodyBytes,
  };
}

/** Returns the mode that a server requests in its response to the headers; modes it leaves at their default stay. */
export function overriddenMode(mode: ProcessingMode, override: ModeOverride): ProcessingMode {
  return {
    requestHeaders: mode.requestHeaders,
    responseHeaders: isSent(override.responseHeaderMode, mode.responseHeaders),
    requestBody: BODY_MODES[override.requestBodyMode] ?? mode.requestBody,
    responseBody: BODY_MODES[override.responseBodyMode] ?? mode.responseBody,
    requestTrailers: isSent(override.requestTrailerMode, mode.requestTrailers),
    responseTrailers: isSent(override.responseTrailerMode, mode.responseTrailers),
  };
}

function isSent(mode: number, byDefault: boolean): boolean {
  const name = HEADER_MODES[mode] ?? 'DEFAULT';
  return name === 'DEFAULT' ? byDefault : name === 'SEND';
}

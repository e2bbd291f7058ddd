import { ExactNumber, fromByteString, isSecretName } from '@edge-gateway/core';
import type { RateLimitAction } from '@edge-gateway/core/schema';
import { rateLimitError } from '../error-codes.ts';
import { GENERIC_KEY, type Entry } from './descriptor.ts';
import { compileHeaderConditions } from './header-conditions.ts';
import { compileMetadataKey } from './metadata-value.ts';
import type { DescribedRequest } from './request.ts';

/** One action: the entry that it adds to a descriptor. */
export interface CompiledAction {
  readonly key: string;
  /** True if the value is a secret. */
  readonly isSecret: boolean;
  /** The entry of actions with a fixed value. */
  readonly entry: Entry | undefined;
  /** True if every request has the entry. */
  readonly isConstant: boolean;
  /** True if the descriptor remains without the entry; otherwise it is dropped. */
  readonly isOptional: boolean;
  /** Returns the value; `undefined` if the request has none. */
  valueOf(request: DescribedRequest): string | undefined;
}

/** How an action is compiled. */
export interface ActionContext {
  readonly isSet: boolean;
  /** Reports a value that cannot be used; without the value. */
  readonly warn: (message: string) => void;
}

/** Compiles one action. Throws `ERR_RATE_LIMIT_ACTIONS` if it is unknown, unsupported, or lacks a field. */
export function compileAction(action: RateLimitAction, context: ActionContext): CompiledAction {
  const { genericKey, requestHeaders, headerValueMatch, metadata } = action;
  if (action.sourceCluster) return dynamic('source_cluster', (request) => request.sourceCluster || undefined);
  if (action.destinationCluster)
    return dynamic('destination_cluster', (request) => request.destinationCluster || undefined);
  if (action.remoteAddress) return dynamic('remote_address', (request) => request.clientAddress || undefined);
  if (genericKey) return constant(GENERIC_KEY, required(genericKey.descriptorValue, 'genericKey.descriptorValue'));
  if (requestHeaders) return compileRequestHeaders(requestHeaders, context);
  if (headerValueMatch) return compileHeaderValueMatch(headerValueMatch);
  if (metadata) return compileMetadata(metadata, context);
  const name = Object.keys(action)[0];
  throw rateLimitError(
    'ERR_RATE_LIMIT_ACTIONS',
    name === undefined ? 'action without a type' : `action ${name} is not supported`,
  );
}

/** Returns an action with the same entry for every request. */
export function constant(key: string, value: string): CompiledAction {
  const entry = { key, value };
  return { key, isSecret: false, entry, isConstant: true, isOptional: false, valueOf: () => value };
}

/** Returns an action whose value depends on the request. */
export function dynamic(
  key: string,
  valueOf: CompiledAction['valueOf'],
  { isSecret = false, isOptional = false } = {},
): CompiledAction {
  return { key, isSecret, entry: undefined, isConstant: false, isOptional, valueOf };
}

type Fields<K extends keyof RateLimitAction> = NonNullable<RateLimitAction[K]>;

function required(value: string | undefined, field: string): string {
  if (value) return value;
  throw rateLimitError('ERR_RATE_LIMIT_ACTIONS', `missing ${field}`);
}

function compileRequestHeaders(fields: Fields<'requestHeaders'>, { isSet: isOptional }: ActionContext): CompiledAction {
  const name = required(fields.headerName, 'requestHeaders.headerName').toLowerCase();
  const key = required(fields.descriptorKey, 'requestHeaders.descriptorKey');
  const isSecret = isSecretName(name) || isSecretName(key);
  const valueOf = (request: DescribedRequest): string | undefined => {
    const value = request.header(name);
    return value === undefined ? undefined : fromByteString(value);
  };
  return dynamic(key, valueOf, { isSecret, isOptional });
}

function compileHeaderValueMatch(fields: Fields<'headerValueMatch'>): CompiledAction {
  const value = required(fields.descriptorValue, 'headerValueMatch.descriptorValue');
  const test = compileHeaderConditions(fields.headers ?? []);
  const isExpected = fields.expectMatch ?? true;
  return {
    ...constant('header_match', value),
    isConstant: false,
    valueOf: (request) => (test(request) === isExpected ? value : undefined),
  };
}

function typeName(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  return `of type ${value instanceof ExactNumber ? 'number' : typeof value}`;
}

function compileMetadata(fields: Fields<'metadata'>, { warn }: ActionContext): CompiledAction {
  const key = required(fields.descriptorKey, 'metadata.descriptorKey');
  const namespace = required(fields.metadataKey?.key, 'metadata.metadataKey.key');
  const read = compileMetadataKey(fields.metadataKey!, fields.source ?? 'DYNAMIC');
  const names = [key, namespace, ...(fields.metadataKey?.path ?? []).map((step) => step.key ?? '')];
  const fallback = fields.defaultValue || undefined;
  const valueOf = (request: DescribedRequest): string | undefined => {
    const value = read(request);
    if (typeof value === 'string' && value !== '') return value;
    if (value !== undefined && value !== null && value !== '') {
      warn(`metadata of ${namespace} for ${key} must be a string, but is ${typeName(value)}`);
    }
    return fallback;
  };
  return dynamic(key, valueOf, { isSecret: names.some(isSecretName) });
}

import { isSecretName } from '@edge-gateway/core';
import type { RateLimitAction } from '@edge-gateway/core/schema';
import { rateLimitError } from '../error-codes.ts';
import { GENERIC_KEY, type Entry } from './descriptor.ts';
import { compileHeaderConditions } from './header-conditions.ts';
import { compileMetadataKey } from './metadata-value.ts';
import type { DescribedRequest } from './request.ts';

/**
 * Returns the entry of one action. `undefined` drops the descriptor; `null` leaves out the entry, which only happens for absent headers
 * in sets.
 */
export type EntryOf = (request: DescribedRequest) => Entry | undefined | null;

/** How an action is compiled. */
export interface ActionContext {
  readonly isSet: boolean;
  /** Reports a value that cannot be used; without the value. */
  readonly warn: (message: string) => void;
}

/** Compiles one action. Throws `ERR_RATE_LIMIT_ACTIONS` if it is unknown, unsupported, or lacks a field. */
export function compileAction(action: RateLimitAction, context: ActionContext): EntryOf {
  const { genericKey, requestHeaders, headerValueMatch, metadata } = action;
  if (action.sourceCluster) return (request) => optionalEntry('source_cluster', request.sourceCluster);
  if (action.destinationCluster) return (request) => optionalEntry('destination_cluster', request.destinationCluster);
  if (action.remoteAddress) return (request) => optionalEntry('remote_address', request.clientAddress);
  if (genericKey)
    return fixed({ key: GENERIC_KEY, value: required(genericKey.descriptorValue, 'genericKey.descriptorValue') });
  if (requestHeaders) return compileRequestHeaders(requestHeaders, context);
  if (headerValueMatch) return compileHeaderValueMatch(headerValueMatch);
  if (metadata) return compileMetadata(metadata, context);
  const name = Object.keys(action)[0];
  throw rateLimitError(
    'ERR_RATE_LIMIT_ACTIONS',
    name === undefined ? 'action without a type' : `action ${name} is not supported`,
  );
}

type Fields<K extends keyof RateLimitAction> = NonNullable<RateLimitAction[K]>;

function required(value: string | undefined, field: string): string {
  if (value) return value;
  throw rateLimitError('ERR_RATE_LIMIT_ACTIONS', `missing ${field}`);
}

const fixed =
  (entry: Entry): EntryOf =>
  () =>
    entry;

function optionalEntry(key: string, value: string | undefined, isSecret = false): Entry | undefined {
  return value ? entryOf(key, value, isSecret) : undefined;
}

function entryOf(key: string, value: string, isSecret: boolean): Entry {
  return isSecret ? { key, value, isSecret } : { key, value };
}

function compileRequestHeaders(fields: Fields<'requestHeaders'>, { isSet }: ActionContext): EntryOf {
  const name = required(fields.headerName, 'requestHeaders.headerName').toLowerCase();
  const key = required(fields.descriptorKey, 'requestHeaders.descriptorKey');
  const isSecret = isSecretName(name) || isSecretName(key);
  return (request) => {
    const value = request.header(name);
    if (value === undefined) return isSet ? null : undefined;
    return entryOf(key, value, isSecret);
  };
}

function compileHeaderValueMatch(fields: Fields<'headerValueMatch'>): EntryOf {
  const entry = { key: 'header_match', value: required(fields.descriptorValue, 'headerValueMatch.descriptorValue') };
  const test = compileHeaderConditions(fields.headers ?? []);
  const isExpected = fields.expectMatch ?? true;
  return (request) => (test(request) === isExpected ? entry : undefined);
}

function compileMetadata(fields: Fields<'metadata'>, { warn }: ActionContext): EntryOf {
  const key = required(fields.descriptorKey, 'metadata.descriptorKey');
  const namespace = required(fields.metadataKey?.key, 'metadata.metadataKey.key');
  const read = compileMetadataKey(fields.metadataKey!, fields.source ?? 'DYNAMIC');
  const names = [key, namespace, ...(fields.metadataKey?.path ?? []).map((step) => step.key ?? '')];
  const isSecret = names.some(isSecretName);
  const fallback = optionalEntry(key, fields.defaultValue, isSecret);
  return (request) => {
    const value = read(request);
    if (typeof value === 'string' && value !== '') return entryOf(key, value, isSecret);
    if (value !== undefined && value !== null && value !== '') {
      warn(
        `metadata of ${namespace} for ${key} must be a string, but is ${Array.isArray(value) ? 'a list' : `of type ${typeof value}`}`,
      );
    }
    return fallback;
  };
}

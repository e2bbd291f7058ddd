import { validateHeaderName, validateHeaderValue, type IncomingMessage } from 'node:http';
import {
  FRAMING_HEADERS,
  canonicalName,
  toByteString,
  type AuthAllowed,
  type Facts,
  type HeaderChange,
} from '@edge-gateway/core';
import { configError } from '../error-codes.ts';
import { changeQuery } from './query-changes.ts';
import type { AuthSettings } from '../settings.ts';

/** Namespace of the dynamic metadata that steps leave, each under its name. */
export const AUTH_METADATA = 'envoy.filters.http.ext_authz';

/** Removes headers of the client that only steps may set, in every spelling. Values that were set since stay. */
export function removeClientCopies(
  sent: Pick<IncomingMessage, 'headers'>,
  facts: Facts,
  headers: readonly string[],
): void {
  if (headers.length === 0) return;
  const wanted = new Set(headers.map(canonicalName));
  if (facts.passesTrailers) (facts.guardedNames ??= []).push(wanted);
  for (const name of Object.keys(sent.headers)) {
    if (!wanted.has(canonicalName(name))) continue;
    const isGone = facts.requestChanges.some((change) => change.name === name && change.op !== 'append');
    if (!isGone) facts.requestChanges.push({ op: 'remove', name });
  }
}

/** Returns the changes of request headers that a chain grants, the one for the user among them. */
export function requestChangesOf(
  { requestChanges = [], userId }: AuthAllowed,
  { userIdHeader }: Pick<AuthSettings, 'userIdHeader'>,
): readonly HeaderChange[] {
  if (userId === undefined) return requestChanges;
  return [...requestChanges, { op: 'set', name: userIdHeader, value: toByteString(userId) }];
}

/** Records the grants of a chain; they were checked before, see {@link checkSendable}. */
export function record(granted: AuthAllowed, facts: Facts, settings: AuthSettings): void {
  const { responseChanges = [], queryChanges = [], metadata = {} } = granted;
  const requestChanges = requestChangesOf(granted, settings);
  facts.requestChanges.push(...requestChanges);
  facts.responseChanges.push(...responseChanges);
  facts.path = changeQuery(facts.path, queryChanges);
  facts.isGuarded = true;
  if (granted.identity) facts.identity = granted.identity;
  if (granted.logoutPath !== undefined) facts.logoutPath = granted.logoutPath;
  if (granted.isSessionOpen) facts.isSessionOpen = granted.isSessionOpen;
  recordMetadata(metadata, facts);
  if (settings.clearRouteCache && requestChanges.length + queryChanges.length > 0) facts.reroute = true;
}

/** Adds to the dynamic metadata of external auth. */
export function recordMetadata(metadata: Readonly<Record<string, unknown>>, facts: Facts): void {
  if (Object.keys(metadata).length === 0) return;
  facts.metadata.set(AUTH_METADATA, { ...facts.metadata.get(AUTH_METADATA), ...metadata });
}

/** Throws `ERR_EXTAUTH_CONFIG` for a header with an invalid name or value, such as one with a line break. */
export function checkSendable(changes: readonly HeaderChange[]): void {
  for (const change of changes) {
    try {
      validateHeaderName(change.name);
      if (change.op !== 'remove') validateHeaderValue(change.name, change.value);
    } catch (cause) {
      throw configError(`the header ${JSON.stringify(change.name)} cannot be sent`, cause);
    }
  }
}

/** Returns true for a header, in lower case, that belongs to the proxy, also for `:path` and its like: no server may grant it, and none receives it. */
export function isFraming(name: string): boolean {
  return FRAMING_HEADERS.has(name) || name === 'expect' || name === 'host' || name.startsWith(':');
}

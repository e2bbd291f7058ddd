import { applyHeaderChanges, canonicalName, headerIn, visibleCookies } from '@edge-gateway/core';
import type { AuthAllowed, AuthRequest, CookieTest, HeaderChange } from '@edge-gateway/core';
import { isFraming, requestChangesOf } from '../chain/grants.ts';
import type { Refusal } from '../chain/settle.ts';
import type { AuthSettings } from '../settings.ts';

/** What a proxy does with an allowed request. */
export interface Grant {
  readonly allowed: true;
  /** Headers of the request, in lower case, with the values that replace them. */
  readonly set: ReadonlyMap<string, string>;
  /** Headers that the upstream must not receive, in lower case. */
  readonly remove: readonly string[];
  readonly responseChanges: readonly HeaderChange[];
  readonly query: { readonly set: ReadonlyMap<string, string>; readonly remove: readonly string[] };
  /** By step. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** What a proxy does with a request. */
export type Verdict = Grant | Denial;

/** The response that a proxy sends to the client. */
interface Denial extends Refusal {
  readonly allowed: false;
  /** By step. Default: none. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

interface GrantParts {
  readonly settings: AuthSettings;
  /** Request headers that only the steps may set. */
  readonly owned: readonly string[];
  /** Cookies that only the steps read. */
  readonly hidden: CookieTest;
}

/**
 * Returns what a proxy does with a request that a chain allows. The values of headers are final, because proxies differ in how they append. Headers that only
 * steps may set are removed even if the request seems not to have them: the proxy may not have sent them.
 */
export function grantOf(granted: AuthAllowed, request: AuthRequest, { settings, owned, hidden }: GrantParts): Grant {
  const changes = requestChangesOf(granted, settings);
  const cleaned = spellingsOf([settings.userIdHeader, ...owned, ...changes.map(({ name }) => name)], request);
  const cookie = request.header('cookie');
  const shown = cookie === undefined ? undefined : visibleCookies(cookie, hidden);
  const all: HeaderChange[] = [
    ...[...cleaned].map((name): HeaderChange => ({ op: 'remove', name })),
    ...(shown === cookie ? [] : [cookieChange(shown!)]),
    ...changes,
  ];
  const after = applyHeaderChanges(request.headers(), all);
  const names = new Set(all.map(({ name }) => name).filter((name) => !isFraming(name)));
  const set = new Map<string, string>();
  const remove: string[] = [];
  for (const name of names) {
    const value = headerIn(after, name);
    if (value === undefined) remove.push(name);
    else set.set(name, value);
  }
  return {
    allowed: true,
    set,
    remove,
    responseChanges: granted.responseChanges ?? [],
    query: queryOf(granted),
    metadata: granted.metadata ?? {},
  };
}

function cookieChange(value: string): HeaderChange {
  return value === '' ? { op: 'remove', name: 'cookie' } : { op: 'set', name: 'cookie', value };
}

/** Returns the names, and those of the client's headers that some servers read as one of them, such as `x_user_id`. */
function spellingsOf(names: readonly string[], request: AuthRequest): ReadonlySet<string> {
  const wanted = new Set(names.map(canonicalName));
  const given = request.headers().filter((name, i) => i % 2 === 0 && wanted.has(canonicalName(name)));
  return new Set([...names, ...given]);
}

/** Proxies apply all parameters that are set before those that are removed, so each name has only its last change. */
function queryOf({ queryChanges = [] }: AuthAllowed): Grant['query'] {
  const last = new Map(queryChanges.map((change) => [change.name, change]));
  const set = new Map<string, string>();
  const remove: string[] = [];
  for (const change of last.values()) {
    if (change.op === 'set') set.set(change.name, change.value);
    else remove.push(change.name);
  }
  return { set, remove };
}

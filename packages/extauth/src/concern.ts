import {
  authPlaceOf,
  clusterName,
  factsOf,
  type AuthMethodKind,
  type Concern,
  type Context,
  type Handler,
  type Scope,
} from '@edge-gateway/core';
import type { ExtAuthExtension } from '@edge-gateway/core/schema';
import { removeClientCopies } from './chain/grants.ts';
import { createChain } from './chain/chain.ts';
import { hiddenOf } from './chain/method-of.ts';
import { configError, extauthError } from './error-codes.ts';
import { contextExtensionsOf } from './remote/context-extensions.ts';
import { serverHeadersOf } from './remote/server-headers.ts';
import { createServerCheck, type ServerPlace } from './remote/server-check.ts';
import { SharedClients } from './remote/shared-clients.ts';
import { createAuthHandler, type Hidden, type Refuse } from './request/handler.ts';
import { settingsOf } from './settings.ts';

/** Options of {@link createExtAuth}. */
export interface ExtAuthOptions {
  /** The methods that steps may use; see `LOCAL_METHODS` and the other methods of this package. */
  readonly methods: readonly AuthMethodKind[];
}

/** The block of levels without one. */
const UNSET: ExtAuthExtension = Object.freeze({});

/**
 * Creates the concern for `options.extauth`: the most specific level with a block applies, and `disable` turns it off. AuthConfigs are evaluated
 * in the gateway, or by the server that the settings name; see `authPlaceOf`. A block whose AuthConfig or auth server is missing cannot be compiled,
 * so that its routes return 500.
 *
 * @example
 * const concerns = [createExtAuth({ methods: [...METHODS, oidcMethod] }), jwtConcern, rbacConcern];
 */
export function createExtAuth({ methods }: ExtAuthOptions): Concern<ExtAuthExtension> {
  const clients = new SharedClients();
  return {
    name: 'extAuth',
    option: 'extauth',
    stage: 'extAuth',
    pick: (levels) =>
      (levels as readonly { readonly extauth?: ExtAuthExtension }[]).findLast(({ extauth }) => extauth)?.extauth ??
      UNSET,
    compile(block, context, scope) {
      if (block === UNSET || block.disable) return compileCleaning(methods, scope);
      const place = authPlaceOf(block, scope?.settings ?? {});
      const parts = { context, scope, hidden: hiddenIn(scope, methods) };
      if (place.type === 'server') return compileServer(block, place, { ...parts, clients });
      if (place.type === 'embedded') return compileChain(block, { ...parts, methods });
      throw configError(place.type === 'missing' ? place.reason : 'external auth is off');
    },
  };
}

interface CompileParts {
  readonly context: Context;
  readonly scope: Scope | undefined;
  readonly hidden: Hidden;
}

function compileChain(
  block: ExtAuthExtension,
  { context, scope, hidden, methods }: CompileParts & { readonly methods: readonly AuthMethodKind[] },
): Handler {
  const { name = '', namespace = '' } = block.configRef ?? {};
  const id = `${namespace}.${name}`;
  const config = scope?.virtualHost.authConfigs.find(({ ref }) => ref.name === name && ref.namespace === namespace);
  if (!config) throw configError(`there is no AuthConfig ${id}`);
  const settings = settingsOf(scope?.settings.extauth);
  const check = createChain(config.spec, { kinds: methods, context, id, timeoutMs: settings.timeoutMs });
  const extensionsOf = contextExtensionsOf(block, scope);
  return createAuthHandler({ check, hidden, settings, context, id, extensionsOf, refuse: refuseByGateway });
}

function compileServer(
  block: ExtAuthExtension,
  place: ServerPlace,
  { context, scope, hidden, clients }: CompileParts & { readonly clients: SharedClients },
): Handler {
  const settings = settingsOf(place.server);
  const extensionsOf = contextExtensionsOf(block, scope);
  const check = createServerCheck({ place, settings, context, clients, extensionsOf });
  const id = clusterName(place.upstream);
  return createAuthHandler({ check, hidden, settings, context, id, appends: true, refuse: refuseByGateway });
}

/** The headers that AuthConfigs and auth servers of the virtual host grant, and the cookies of its logins: hidden on every route. */
function hiddenIn(scope: Scope | undefined, methods: readonly AuthMethodKind[]): Hidden {
  const { headers, cookies } = hiddenOf(
    (scope?.virtualHost.authConfigs ?? []).map(({ spec }) => spec),
    methods,
  );
  return { headers: [...new Set([...headers, ...serverHeadersOf(scope)])], cookies };
}

/** Removes granted headers of clients on routes without external auth, because upstreams trust them. */
function compileCleaning(methods: readonly AuthMethodKind[], scope: Scope | undefined): Handler | undefined {
  const { extauth: written, namedExtauth } = scope?.settings ?? {};
  if (!written && !namedExtauth && !scope?.virtualHost.authConfigs.length) return undefined;
  const hidden = hiddenIn(scope, methods);
  const names = [settingsOf(written).userIdHeader, ...hidden.headers];
  return function extAuth(req, _res, next) {
    const facts = factsOf(req);
    facts.hiddenCookies = hidden.cookies;
    removeClientCopies(req, facts, names);
    next();
  };
}

/** The gateway writes the response, so that its own headers, logs and counters apply to it. */
const refuseByGateway: Refuse = ({ status, headers, body, reason, details, flags }, { req, next }) => {
  const facts = factsOf(req);
  let contentType: string | undefined;
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]!.toLowerCase();
    if (name === 'content-type') contentType = headers[i + 1]!;
    else facts.responseChanges.push({ op: name === 'x-request-id' ? 'set' : 'append', name, value: headers[i + 1]! });
  }
  next(
    extauthError('ERR_EXTAUTH_DENIED', reason, {
      status,
      ...(contentType !== undefined && { headers: { 'content-type': contentType } }),
      reply: { body, details, flags, isFinal: true },
    }),
  );
};

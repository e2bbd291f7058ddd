import {
  factsOf,
  GatewayError,
  type AuthMethodKind,
  type Concern,
  type Context,
  type CookieTest,
  type Handler,
  type Scope,
} from '@edge-gateway/core';
import type { AuthConfigSpec, ExtAuthExtension } from '@edge-gateway/core/schema';
import { createChain } from './chain/chain.ts';
import { removeClientCopies } from './chain/grants.ts';
import { grantedHeadersOf, hiddenCookiesOf } from './chain/granted-headers.ts';
import { createAuthHandler, type Refuse } from './request/handler.ts';
import { settingsOf } from './settings.ts';

export interface ExtAuthOptions {
  /** The methods that steps may use; see `LOCAL_METHODS` and the other methods of this package. */
  readonly methods: readonly AuthMethodKind[];
}

/** Stands for levels that say nothing. */
const UNSET: ExtAuthExtension = Object.freeze({});

/**
 * The concern for `options.extauth`: the nearest level that has a block wins, `disable` asks nobody. A block whose
 * AuthConfig is not there cannot be compiled, so that its routes answer 500.
 *
 * @example
 * const concerns = [createExtAuth({ methods: [...METHODS, oidcMethod] }), jwtConcern, rbacConcern];
 */
export function createExtAuth({ methods }: ExtAuthOptions): Concern<ExtAuthExtension> {
  return {
    name: 'extAuth',
    option: 'extauth',
    stage: 'extAuth',
    pick: (levels) =>
      (levels as readonly { readonly extauth?: ExtAuthExtension }[]).findLast(({ extauth }) => extauth)?.extauth ??
      UNSET,
    compile(block, context, scope) {
      if (block === UNSET || block.disable) return cleaning(methods, scope);
      return asking(block, { methods, context, scope });
    },
  };
}

interface Surroundings {
  readonly methods: readonly AuthMethodKind[];
  readonly context: Context;
  readonly scope: Scope | undefined;
}

function asking({ configRef }: ExtAuthExtension, { methods, context, scope }: Surroundings): Handler {
  const { name = '', namespace = '' } = configRef ?? {};
  const id = `${namespace}.${name}`;
  const config = scope?.virtualHost.authConfigs.find(({ ref }) => ref.name === name && ref.namespace === namespace);
  if (!config) throw new GatewayError(`there is no AuthConfig ${id}`, { code: 'ERR_EXTAUTH_CONFIG' });
  const settings = settingsOf(scope?.settings.extauth);
  const chain = createChain(config.spec, { kinds: methods, context, id, timeoutMs: settings.timeoutMs });
  return createAuthHandler({
    chain,
    granted: grantedHere(methods, scope),
    hidden: hiddenHere(methods, scope),
    settings,
    context,
    id,
    refuse: refuseByGateway,
  });
}

/** Headers that any AuthConfig of the virtual host grants: its upstreams trust them on every route. */
function grantedHere(methods: readonly AuthMethodKind[], scope: Scope | undefined): readonly string[] {
  return grantedHeadersOf(specsOf(scope), methods);
}

/** Browsers send the cookies of a login to every route of the host, also to routes without external auth. */
function hiddenHere(methods: readonly AuthMethodKind[], scope: Scope | undefined): CookieTest {
  return hiddenCookiesOf(specsOf(scope), methods);
}

function specsOf(scope: Scope | undefined): readonly AuthConfigSpec[] {
  return (scope?.virtualHost.authConfigs ?? []).map(({ spec }) => spec);
}

/** Removes granted headers of clients on routes without external auth, because upstreams trust them. */
function cleaning(methods: readonly AuthMethodKind[], scope: Scope | undefined): Handler | undefined {
  const written = scope?.settings.extauth;
  if (!written && !scope?.virtualHost.authConfigs.length) return undefined;
  const names = [settingsOf(written).userIdHeader, ...grantedHere(methods, scope)];
  const hidden = hiddenHere(methods, scope);
  return function extAuth(req, _res, next) {
    const facts = factsOf(req);
    facts.hiddenCookies = hidden;
    removeClientCopies(req, facts, names);
    next();
  };
}

/** The gateway writes the answer, so that its own headers, logs and counters hold for it too. */
const refuseByGateway: Refuse = ({ status, headers, body, reason, details, flags }, { req, next }) => {
  const facts = factsOf(req);
  let contentType: string | undefined;
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]!.toLowerCase();
    if (name === 'content-type') contentType = headers[i + 1]!;
    else facts.responseChanges.push({ op: 'append', name, value: headers[i + 1]! });
  }
  next(
    new GatewayError(reason, {
      code: 'ERR_EXTAUTH_DENIED',
      status,
      ...(contentType !== undefined && { headers: { 'content-type': contentType } }),
      reply: { body, details, flags, isFinal: true },
    }),
  );
};

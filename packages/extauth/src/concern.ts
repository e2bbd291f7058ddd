import { factsOf, type AuthMethodKind, type Concern, type Context, type Handler, type Scope } from '@edge-gateway/core';
import type { AuthConfigSpec, ExtAuthExtension } from '@edge-gateway/core/schema';
import { removeClientCopies } from './chain/grants.ts';
import { grantedHeadersOf, hiddenCookiesOf } from './chain/method-of.ts';
import { configError, extauthError } from './error-codes.ts';
import { createAuthHandler, type Refuse } from './request/handler.ts';
import { settingsOf } from './settings.ts';

export interface ExtAuthOptions {
  /** The methods that steps may use; see `LOCAL_METHODS` and the other methods of this package. */
  readonly methods: readonly AuthMethodKind[];
}

/** The block of levels without one. */
const UNSET: ExtAuthExtension = Object.freeze({});

/**
 * Creates the concern for `options.extauth`: the most specific level with a block applies, and `disable` turns it off. A block
 * whose AuthConfig is missing cannot be compiled, so that its routes return 500.
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
      if (block === UNSET || block.disable) return compileCleaning(methods, scope);
      return compileAuth(block, methods, context, scope);
    },
  };
}

function compileAuth(
  { configRef }: ExtAuthExtension,
  methods: readonly AuthMethodKind[],
  context: Context,
  scope: Scope | undefined,
): Handler {
  const { name = '', namespace = '' } = configRef ?? {};
  const id = `${namespace}.${name}`;
  const config = scope?.virtualHost.authConfigs.find(({ ref }) => ref.name === name && ref.namespace === namespace);
  if (!config) throw configError(`there is no AuthConfig ${id}`);
  const settings = settingsOf(scope?.settings.extauth);
  const specs = specsOf(scope);
  return createAuthHandler({ config: config.spec, specs, methods, settings, context, id, refuse: refuseByGateway });
}

/** Every AuthConfig of the virtual host: its upstreams trust what any of them grants, and browsers send the cookies of a login, on every route. */
function specsOf(scope: Scope | undefined): readonly AuthConfigSpec[] {
  return (scope?.virtualHost.authConfigs ?? []).map(({ spec }) => spec);
}

/** Removes granted headers of clients on routes without external auth, because upstreams trust them. */
function compileCleaning(methods: readonly AuthMethodKind[], scope: Scope | undefined): Handler | undefined {
  const written = scope?.settings.extauth;
  if (!written && !scope?.virtualHost.authConfigs.length) return undefined;
  const names = [settingsOf(written).userIdHeader, ...grantedHeadersOf(specsOf(scope), methods)];
  const hidden = hiddenCookiesOf(specsOf(scope), methods);
  return function extAuth(req, _res, next) {
    const facts = factsOf(req);
    facts.hiddenCookies = hidden;
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
    else facts.responseChanges.push({ op: 'append', name, value: headers[i + 1]! });
  }
  next(
    extauthError('ERR_EXTAUTH_DENIED', reason, {
      status,
      ...(contentType !== undefined && { headers: { 'content-type': contentType } }),
      reply: { body, details, flags, isFinal: true },
    }),
  );
};

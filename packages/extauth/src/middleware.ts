import {
  asMiddleware,
  denialError,
  factsOf,
  type AuthMethodKind,
  type Concern,
  type CreateMiddleware,
  type Handler,
} from '@edge-gateway/core';
import * as f from '@edge-gateway/core/options';
import type { AuthConfigSpec, ExtAuthServer } from '@edge-gateway/core/schema';
import { createChain } from './chain/chain.ts';
import { hiddenOf } from './chain/method-of.ts';
import { configError } from './error-codes.ts';
import { createAuthHandler, type Refuse } from './request/handler.ts';
import { METHODS } from './methods/all.ts';
import { settingsOf } from './settings.ts';

/** External auth in a server of your own. */
export interface ExtAuthMiddlewareOptions {
  /** The chain, as in `spec` of an AuthConfig. References to secrets are looked up in `context.secrets`. */
  readonly config: AuthConfigSpec;
  /** Time limit, header for the user, what happens on errors: as in the Settings. */
  readonly settings?: ExtAuthServer;
  /** Methods in addition to those of this package; one of the same type replaces it. */
  readonly methods?: readonly AuthMethodKind[];
  /** Name in logs. Default: `config`. */
  readonly name?: string;
}

const isMethod = (each: Partial<AuthMethodKind> | undefined): boolean =>
  typeof each?.type === 'string' && typeof each.create === 'function';
const fields = {
  config: f.AuthConfigSpec,
  settings: f.ExtAuthServer,
  methods: f.value<readonly AuthMethodKind[]>((methods) =>
    Array.isArray(methods) && methods.every(isMethod) ? undefined : 'must be a list of methods',
  ),
  name: f.text(),
} satisfies Record<keyof ExtAuthMiddlewareOptions, f.Schema>;

const concern: Concern<ExtAuthMiddlewareOptions> = {
  name: 'extauth',
  option: 'extauth',
  stage: 'extAuth',
  compile({ config, settings: written, methods = [], name: id = 'config' }, context): Handler {
    const settings = settingsOf(written);
    const kinds = [...methods, ...METHODS];
    const check = createChain(config, { kinds, context, id, timeoutMs: settings.timeoutMs });
    return createAuthHandler({ check, hidden: hiddenOf([config], kinds), settings, context, id, refuse: refuseHere });
  },
};

/** Passes the denial on as an error: `asMiddleware` responds or calls `next(error)`. */
const refuseHere: Refuse = (refusal, { req, res, next }) => {
  if (res.headersSent || res.destroyed) return;
  next(denialError({ allowed: false, ...refusal }, factsOf(req), 'ERR_EXTAUTH_DENIED'));
};

/**
 * Creates external auth for Express and `node:http`: runs the chain of an AuthConfig and sets granted headers in `req.headers` and the identity in
 * `identityOf(req)`. Responds to rejected requests, or passes `ERR_EXTAUTH_DENIED` to `next(error)` with `onRefusal: 'next'`. Throws `ERR_EXTAUTH_METHOD`, `ERR_EXTAUTH_CONFIG` or `ERR_CORE_EXPRESSION` for a
 * chain that cannot be used.
 *
 * @example
 * app.use(extauth({ config: { configs: [{ basicAuth: { realm: 'staff', apr: { users } } }] } }));
 */
export const extauth: CreateMiddleware<ExtAuthMiddlewareOptions> = asMiddleware(concern, {
  schema: f.block(f.required('config'), fields),
  error: (message) => configError(message),
});

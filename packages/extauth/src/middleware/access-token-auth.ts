import { createContext, plainSecrets, type Context, type Handler, type MiddlewareOptions } from '@edge-gateway/core';
import * as f from '@edge-gateway/core/options';
import type { AccessTokenValidation } from '@edge-gateway/core/schema';
import { createAccessTokenMethod, type AccessTokenParts } from '../methods/access-token.ts';
import { configError } from '../error-codes.ts';
import { extauth } from '../middleware.ts';
import { ON_REFUSAL } from './on-refusal.ts';

type Introspection = NonNullable<AccessTokenValidation['introspection']>;

/** Fields that are the same in an AuthConfig. */
type BlockField = keyof Omit<AccessTokenValidation, 'introspection' | 'jwt'>;

/** Options of {@link accessTokenAuth}: the block `accessTokenValidation` of an AuthConfig, with plain values. */
export interface AccessTokenAuthOptions
  extends Omit<AccessTokenValidation, 'introspection' | 'jwt'>, AccessTokenParts, MiddlewareOptions {
  /** Verifies each token by a call of the provider. */
  readonly introspection?: Omit<Introspection, 'clientSecretRef' | 'disableClientSecret'> & {
    /** Secret of `clientId`. Unset: the client id is sent alone. */
    readonly clientSecret?: string;
  };
  /** Checks tokens by their signature, with the keys of `jwksUrl` or the key set `jwks`, as JSON text or value. */
  readonly jwt?: Pick<NonNullable<AccessTokenValidation['jwt']>, 'issuer' | 'audiences'> & {
    readonly jwksUrl?: string;
    readonly jwks?: string | object;
  };
  /** Timeout of a call, e.g. `500ms`. Default `200ms`. */
  readonly requestTimeout?: string;
}

const STEP = 'accessTokenAuth';
const SECRET = 'client';
const isKeySet = (jwks: unknown): boolean => typeof jwks === 'string' || (typeof jwks === 'object' && jwks !== null);
const isLookup = (groups: unknown): boolean => typeof groups === 'function';
const fields = {
  introspection: f.extended(f.fieldOf(f.AccessTokenValidation, 'introspection'), {
    clientSecret: f.text(),
    clientSecretRef: undefined,
    disableClientSecret: undefined,
  }),
  jwt: f.extended(f.fieldOf(f.AccessTokenValidation, 'jwt'), {
    jwksUrl: f.text(),
    jwks: f.value<string | object>((jwks) => (isKeySet(jwks) ? undefined : 'must be a key set, as text or object')),
    remoteJwks: undefined,
    localJwks: undefined,
  }),
  groups: f.value<AccessTokenParts['groups']>((groups) =>
    isLookup(groups) ? undefined : 'must be a group lookup, such as azureGroups',
  ),
  requestTimeout: f.duration(),
  onRefusal: ON_REFUSAL,
} satisfies Record<Exclude<keyof AccessTokenAuthOptions, BlockField>, f.Schema>;
const rules: f.OptionRules = { schema: f.extended(f.AccessTokenValidation, fields), error: configError };

/**
 * Allows requests with a valid access token in `Authorization: Bearer`; `identityOf(req)` has its claims. All others are rejected
 * with 403. Throws `ERR_EXTAUTH_CONFIG` for invalid options. Makes no network call.
 *
 * @example
 * app.use(accessTokenAuth({ introspection: { introspectionUrl, clientId: 'api', clientSecret: process.env.SECRET } }));
 */
export function accessTokenAuth(written: AccessTokenAuthOptions, context: Context = createContext()): Handler {
  const options = f.checkOptions(STEP, written, rules);
  const { introspection, jwt, groups, requestTimeout, onRefusal, ...block } = options;
  const { clientSecret, ...asked } = introspection ?? {};
  const accessTokenValidation = {
    ...block,
    ...(introspection && {
      introspection: {
        ...(asked as Introspection),
        ...(clientSecret !== undefined && { clientSecretRef: { name: SECRET } }),
      },
    }),
    ...(jwt && { jwt: jwtOf(jwt) }),
  } as AccessTokenValidation;
  const secrets = plainSecrets({ [SECRET]: { 'client-secret': clientSecret ?? '' } });
  const own: Context = { ...context, state: context.state.bind(context), secrets };
  const config = { configs: [{ name: STEP, oauth2: { accessTokenValidation } }] };
  const methods = groups ? [createAccessTokenMethod({ groups })] : [];
  const settings = requestTimeout === undefined ? {} : { requestTimeout };
  return extauth({ config, methods: methods as never, settings, name: STEP, onRefusal }, own);
}

function jwtOf({ jwksUrl, jwks, ...checks }: NonNullable<AccessTokenAuthOptions['jwt']>): AccessTokenValidation['jwt'] {
  if (jwks === undefined) return { ...checks, remoteJwks: { url: jwksUrl } };
  return { ...checks, localJwks: { inlineString: typeof jwks === 'string' ? jwks : JSON.stringify(jwks) } };
}

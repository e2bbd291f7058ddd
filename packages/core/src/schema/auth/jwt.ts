import {
  block,
  bool,
  duration,
  enumeration,
  int,
  list,
  map,
  named,
  of,
  ref,
  secretKeys,
  text,
  type Static,
} from '../field.ts';

const claimToHeader = block({
  claim: text('Name of the claim.'),
  header: text('Header to set to its value.'),
  append: bool('True appends to existing values; false replaces them.', { default: false }),
});
/** Copies a claim into a request header. */
export interface ClaimToHeader extends Static<typeof claimToHeader> {}
export const ClaimToHeader = named<ClaimToHeader>('ClaimToHeader', claimToHeader);

const jwks = block(
  {
    local: of(block({ key: text('A JWK, a JWK set, or a PEM public key.', secretKeys) }), 'Inline keys.'),
    remote: of(
      block({
        url: text('Host and path of the request.'),
        upstreamRef: ref('Upstream to connect to.'),
        cacheDuration: duration('How long keys are cached.', { default: '5m' }),
        asyncFetch: of(
          block({ fastListener: bool('The listener does not wait for the first keys.', { default: false }) }),
          'Fetches ahead of requests.',
        ),
      }),
      'Keys fetched over HTTP.',
    ),
  },
  { oneOf: [{ members: ['local', 'remote'] }] },
);
const provider = block({
  issuer: text('Must equal the claim `iss`.'),
  audiences: list(text(), 'Accepted audiences; the claim `aud` must contain one. Empty: not checked.'),
  tokenSource: of(
    block({
      headers: list(
        block({ header: text('Header name.'), prefix: text('Text before the token, case-sensitive.') }),
        'Headers that may carry the token.',
      ),
      queryParams: list(text(), 'Query parameters that may carry the token.'),
    }),
    'Sources of the token. Default: `Authorization: Bearer` and query `access_token`.',
  ),
  keepToken: bool('False removes the token before the request is forwarded.', { default: false }),
  claimsToHeaders: list(ClaimToHeader, 'Claims to copy into request headers.'),
  jwks: of(jwks, 'Keys to verify signatures.'),
  clockSkewSeconds: int('Tolerance for `exp` and `nbf`, in seconds.', { minimum: 0, default: 60 }),
  attachFailedStatusToMetadata: text('Metadata key for the code and message of a failure.'),
});
/** An issuer of tokens and how its tokens are verified. */
export interface JwtProvider extends Static<typeof provider> {}
export const JwtProvider = named<JwtProvider>('JwtProvider', provider);

const providers = block({
  providers: map(JwtProvider, 'Providers by name; one of them must accept the token.'),
  validationPolicy: enumeration(
    ['REQUIRE_VALID', 'ALLOW_MISSING', 'ALLOW_MISSING_OR_FAILED'],
    'How requests without a valid token are handled.',
    { default: 'REQUIRE_VALID' },
  ),
  allowMissingOrFailedJwt: bool('Deprecated; true overrides the policy.', { default: false }),
});
/** A complete set of providers. */
export interface JwtProviders extends Static<typeof providers> {}
export const JwtProviders = named<JwtProviders>('JwtProviders', providers);

const staged = block({
  beforeExtAuth: of(JwtProviders, 'Providers that verify tokens before external auth.'),
  afterExtAuth: of(JwtProviders, 'Providers that verify tokens after external auth.'),
});
/** Providers by stage. */
export interface JwtStaged extends Static<typeof staged> {}
export const JwtStaged = named<JwtStaged>('JwtStaged', staged);

const disable = block({ disable: bool('True disables JWT verification on this route.', { default: false }) });
/** Disables JWT verification on a route. */
export interface JwtRoute extends Static<typeof disable> {}
export const JwtRoute = named<JwtRoute>('JwtRoute', disable);

const stagedRoute = block({
  beforeExtAuth: of(JwtRoute, 'Before external auth.'),
  afterExtAuth: of(JwtRoute, 'After external auth.'),
});
/** Disables JWT verification on a route, by stage. */
export interface JwtStagedRoute extends Static<typeof stagedRoute> {}
export const JwtStagedRoute = named<JwtStagedRoute>('JwtStagedRoute', stagedRoute);

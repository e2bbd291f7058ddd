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
} from './field.ts';

const claimToHeader = block({
  claim: text('Name of the claim.'),
  header: text('Header that gets its value.'),
  append: bool('True adds to the values that are there; false replaces them.', { default: false }),
});
/** Copies a claim into a request header. */
export interface ClaimToHeader extends Static<typeof claimToHeader> {}
export const ClaimToHeader = named<ClaimToHeader>('ClaimToHeader', claimToHeader);

const jwks = block(
  {
    local: of(block({ key: text('A JWK, a set of them, or a PEM public key.', secretKeys) }), 'Inline keys.'),
    remote: of(
      block({
        url: text('Host and path of the request.'),
        upstreamRef: ref('Upstream to connect to.'),
        cacheDuration: duration('How long keys are kept.', { default: '5m' }),
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
  issuer: text('Has to equal the claim `iss`.'),
  audiences: list(text(), 'Of which the claim `aud` has to name one. Empty: not checked.'),
  tokenSource: of(
    block({
      headers: list(
        block({ header: text('Header name.'), prefix: text('Text before the token, case-sensitive.') }),
        'Headers that may carry the token.',
      ),
      queryParams: list(text(), 'Query parameters that may carry the token.'),
    }),
    'Where the token is. Default: `Authorization: Bearer` and query `access_token`.',
  ),
  keepToken: bool('False removes the token before the upstream.', { default: false }),
  claimsToHeaders: list(ClaimToHeader, 'Claims to copy into request headers.'),
  jwks: of(jwks, 'Keys that signatures are checked with.'),
  clockSkewSeconds: int('Tolerance for `exp` and `nbf`, in seconds.', { minimum: 0, default: 60 }),
  attachFailedStatusToMetadata: text('Metadata key that gets code and message of a failure.'),
});
/** Who issues tokens and how they are checked. */
export interface JwtProvider extends Static<typeof provider> {}
export const JwtProvider = named<JwtProvider>('JwtProvider', provider);

const providers = block({
  providers: map(JwtProvider, 'Providers by name; one of them has to accept the token.'),
  validationPolicy: enumeration(
    ['REQUIRE_VALID', 'ALLOW_MISSING', 'ALLOW_MISSING_OR_FAILED'],
    'What happens to requests without a good token.',
    { default: 'REQUIRE_VALID' },
  ),
  allowMissingOrFailedJwt: bool('Deprecated; true beats the policy.', { default: false }),
});
/** A complete set of providers. */
export interface JwtProviders extends Static<typeof providers> {}
export const JwtProviders = named<JwtProviders>('JwtProviders', providers);

const staged = block({
  beforeExtAuth: of(JwtProviders, 'Checked before external auth.'),
  afterExtAuth: of(JwtProviders, 'Checked after external auth.'),
});
/** Providers by stage. */
export interface JwtStaged extends Static<typeof staged> {}
export const JwtStaged = named<JwtStaged>('JwtStaged', staged);

const disable = block({ disable: bool('True exempts this route.', { default: false }) });
/** Exempts a route. */
export interface JwtRoute extends Static<typeof disable> {}
export const JwtRoute = named<JwtRoute>('JwtRoute', disable);

const stagedRoute = block({
  beforeExtAuth: of(JwtRoute, 'Before external auth.'),
  afterExtAuth: of(JwtRoute, 'After external auth.'),
});
/** Exempts a route by stage. */
export interface JwtStagedRoute extends Static<typeof stagedRoute> {}
export const JwtStagedRoute = named<JwtStagedRoute>('JwtStagedRoute', stagedRoute);

import * as f from '../field.ts';

const claimToHeader = f.block({
  claim: f.text('Name of the claim.'),
  header: f.text('Header to set to its value.'),
  append: f.flag('True appends to existing values; false replaces them.'),
});
/** Copies a claim into a request header. */
export interface ClaimToHeader extends f.Static<typeof claimToHeader> {}
export const ClaimToHeader = f.named<ClaimToHeader>('ClaimToHeader', claimToHeader);

const jwks = f.block(f.exclusive, {
  local: f.group('Inline keys.', { key: f.text('A JWK, a JWK set, or a PEM public key.', f.secretKeys) }),
  remote: f.group('Keys fetched over HTTP.', {
    url: f.text('Host and path of the request.'),
    upstreamRef: f.ref('Upstream to connect to.'),
    cacheDuration: f.duration('How long keys are cached.', { default: '5m' }),
    asyncFetch: f.group('Fetches ahead of requests.', {
      fastListener: f.flag('The listener does not wait for the first keys.'),
    }),
  }),
});
const provider = f.block({
  issuer: f.text('Must equal the claim `iss`.'),
  audiences: f.texts('Accepted audiences; the claim `aud` must contain one. Empty: not checked.'),
  tokenSource: f.group('Sources of the token. Default: `Authorization: Bearer` and query `access_token`.', {
    headers: f.groups('Headers that may carry the token.', {
      header: f.text('Header name.'),
      prefix: f.text('Text before the token, case-sensitive; a scheme in `authorization` is not.'),
    }),
    queryParams: f.texts('Query parameters that may carry the token.'),
  }),
  keepToken: f.flag('False removes the token before the request is forwarded.'),
  claimsToHeaders: f.list(ClaimToHeader, 'Claims to copy into request headers.'),
  jwks: f.of(jwks, 'Keys to verify signatures.'),
  clockSkewSeconds: f.count('Tolerance for `exp` and `nbf`, in seconds.', { default: 60 }),
  requireExpiration: f.flag('True rejects tokens without `exp`.'),
  attachFailedStatusToMetadata: f.text('Metadata key for the code and message of a failure.'),
});
/** An issuer of tokens and how its tokens are verified. */
export interface JwtProvider extends f.Static<typeof provider> {}
export const JwtProvider = f.named<JwtProvider>('JwtProvider', provider);

const providers = f.block({
  providers: f.map(JwtProvider, 'Providers by name; one of them must accept the token.'),
  validationPolicy: f.choice(
    ['REQUIRE_VALID', 'ALLOW_MISSING', 'ALLOW_MISSING_OR_FAILED'],
    'How requests without a valid token are handled.',
  ),
  allowMissingOrFailedJwt: f.flag('Deprecated; true overrides the policy.'),
});
/** A complete set of providers. */
export interface JwtProviders extends f.Static<typeof providers> {}
export const JwtProviders = f.named<JwtProviders>('JwtProviders', providers);

const staged = f.block({
  beforeExtAuth: f.of(JwtProviders, 'Providers that verify tokens before external auth.'),
  afterExtAuth: f.of(JwtProviders, 'Providers that verify tokens after external auth.'),
});
/** Providers by stage. */
export interface JwtStaged extends f.Static<typeof staged> {}
export const JwtStaged = f.named<JwtStaged>('JwtStaged', staged);

const disable = f.block({ disable: f.flag('True disables JWT verification on this route.') });
/** Disables JWT verification on a route. */
export interface JwtRoute extends f.Static<typeof disable> {}
export const JwtRoute = f.named<JwtRoute>('JwtRoute', disable);

const stagedRoute = f.block({
  beforeExtAuth: f.of(JwtRoute, 'Before external auth.'),
  afterExtAuth: f.of(JwtRoute, 'After external auth.'),
});
/** Disables JWT verification on a route, by stage. */
export interface JwtStagedRoute extends f.Static<typeof stagedRoute> {}
export const JwtStagedRoute = f.named<JwtStagedRoute>('JwtStagedRoute', stagedRoute);

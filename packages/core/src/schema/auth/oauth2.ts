import { DEFAULTS } from '../defaults.ts';
import * as f from '../field.ts';
import { ClaimToHeader } from './jwt.ts';
import { RedisOptions, UserSession } from './session.ts';

const clientSecretRef = f.ref('Secret with `client-secret`.');
const disableClientSecret = f.flag('The client has no secret.');
const authEndpointQueryParams = f.map(f.text(), 'Parameters added to the authorize URL.');
const tokenEndpointQueryParams = f.map(f.text(), 'Parameters added to the token request.', f.secret);
const dynamicMetadataFromClaims = f.map(f.text(), 'Claim by metadata key.');
const allowHttp = f.flag(
  'Extension of this gateway. Allows http URLs of the provider on other machines. Codes, tokens, keys and the client secret are then sent unencrypted. http to this machine is always allowed, and http to private names and addresses with a warning.',
);
const azure = f.block(f.required('clientId', 'tenantId', 'clientSecret'), {
  clientId: f.text('Id of the application that is allowed to read group memberships.'),
  tenantId: f.text('Id or domain of the tenant.'),
  clientSecret: f.ref('Secret with `client-secret` of that application.'),
  claimsCachingOptions: f.of(RedisOptions, 'Cache that processes share for groups. Default: each process has its own.'),
});
/** Reads the groups of users whose tokens omit them because there are more than 200. */
export interface AzureGroups extends f.Static<typeof azure> {}
export const AzureGroups = f.named<AzureGroups>('AzureGroups', azure);
const providerKind = {
  azure: f.of(AzureGroups, 'Microsoft Entra: reads groups that a token omits because there are more than 200.'),
  default: f.empty('No provider-specific behavior.'),
} as const;

const authentication = f.block(f.exclusive, {
  clientSecret: f.group('Authenticates with a client secret.', { clientSecretRef, disableClientSecret }),
  privateKeyJwt: f.group('Authenticates with a signed assertion.', f.required('signingKeyRef'), {
    signingKeyRef: f.ref('Secret with the private key.'),
    validFor: f.duration('Lifetime of an assertion.', { default: '5s' }),
  }),
});
const discovery = f.block({
  authEndpoint: f.text('Authorize endpoint.'),
  tokenEndpoint: f.text('Token endpoint.'),
  jwksUri: f.text('Key set.'),
  revocationEndpoint: f.text('Revocation endpoint.'),
  endSessionEndpoint: f.text('Logout endpoint.'),
  scopes: f.texts('Supported scopes. A requested scope that is not listed is logged.'),
  responseTypes: f.texts('Supported response types. A list without `code` is logged.'),
  subjects: f.texts('Subject types; not used.'),
  idTokenAlgs: f.texts('Algorithms of id tokens.'),
  authMethods: f.texts('Client authentication methods.'),
  claims: f.texts('Supported claims. A claim that becomes a header and is not listed is logged.'),
});
const claims = (description: string) =>
  f.group(description, { claimsToHeaders: f.list(ClaimToHeader, 'Claims to copy into request headers.') });

const oidc = f.block(
  f.required('clientId', 'issuerUrl', 'appUrl', 'callbackPath'),
  f.oneOf(
    ['azure', 'default'],
    ['clientAuthentication', 'clientSecretRef'],
    ['clientAuthentication', 'disableClientSecret'],
  ),
  {
    clientId: f.text('Client ID.'),
    clientAuthentication: f.of(authentication, 'How the client authenticates at the token endpoint.'),
    clientSecretRef,
    disableClientSecret,
    issuerUrl: f.text('Issuer URL; `.well-known/openid-configuration` is read below it.'),
    allowHttp,
    discoveryOverride: f.of(discovery, 'Overrides for the provider metadata.'),
    discoveryPollInterval: f.duration('Interval between reads of the provider metadata.', {
      default: DEFAULTS.discoveryPollInterval,
    }),
    jwksCacheRefreshPolicy: f.group(
      'Whether an unknown key id triggers a read of the key set. Default: `always`, at most every 5 s.',
      f.exclusive,
      {
        never: f.empty('Refuses.'),
        always: f.empty('When to read the key set.'),
        maxIdpReqPerPollingInterval: f.count('Number of reads per poll interval.'),
      },
    ),
    appUrl: f.text('URL of this application, for the redirect.'),
    callbackPath: f.text('Path to which the provider redirects users; requires a route.'),
    parseCallbackPathAsRegex: f.flag('The callback path is a regular expression.'),
    logoutPath: f.text('Logout path. Unset: none.'),
    afterLogoutUrl: f.text('URL to redirect to after the logout. Default: `appUrl`.'),
    frontChannelLogout: f.group('Path that the provider calls to log out.', { path: f.text('Path.') }),
    endSessionProperties: f.group('HTTP method for the logout endpoint.', {
      methodType: f.choice(['GetMethod', 'PostMethod'], 'Method.'),
      idTokenHint: f.flag(
        'Extension of this gateway. Sends the id token as `id_token_hint` at logout. Some providers require it; the token then appears in the browser, its history and the logs of the provider. Without it the provider receives `client_id`, and may ask the user for confirmation.',
      ),
    }),
    scopes: f.texts('Scopes in addition to `openid`.'),
    authEndpointQueryParams,
    tokenEndpointQueryParams,
    autoMapFromMetadata: f.group('Reads parameters from metadata.', {
      namespace: f.text('Metadata namespace.', { default: 'vendor_authconfig_oidc' }),
    }),
    session: f.of(UserSession, 'Where sessions are stored. Default: in cookies.'),
    headers: f.group('Tokens to send to the upstream.', {
      idTokenHeader: f.text('Header with the id token.'),
      accessTokenHeader: f.text('Header with the access token.'),
      useBearerSchemaForAuthorization: f.flag('Puts `Bearer ` before the access token.'),
    }),
    identityToken: claims('What to read from the id token.'),
    accessToken: claims('What to read from the access token.'),
    dynamicMetadataFromClaims,
    ...providerKind,
    sessionIdHeaderName: f.text('Deprecated; see `session.redis.headerName`.'),
  },
);
/** Login by OpenID Connect. */
export interface OidcAuthorizationCode extends f.Static<typeof oidc> {}
export const OidcAuthorizationCode = f.named<OidcAuthorizationCode>('OidcAuthorizationCode', oidc);

const plain = f.block(f.required('clientId', 'appUrl', 'callbackPath', 'authEndpoint', 'tokenEndpoint'), {
  clientId: f.text('Client ID.'),
  clientSecretRef,
  disableClientSecret,
  appUrl: f.text('URL of this application, for the redirect.'),
  callbackPath: f.text('Path to which the provider redirects users; requires a route.'),
  authEndpoint: f.text('Authorize endpoint.'),
  tokenEndpoint: f.text('Token endpoint.'),
  revocationEndpoint: f.text('Revocation endpoint.'),
  allowHttp,
  scopes: f.texts('Scopes.'),
  session: f.of(UserSession, 'Where sessions are stored. Default: in cookies.'),
  logoutPath: f.text('Logout path. Unset: none.'),
  afterLogoutUrl: f.text('URL to redirect to after the logout. Default: `appUrl`.'),
  authEndpointQueryParams,
  tokenEndpointQueryParams,
});
/** Login by plain OAuth 2. */
export interface PlainOauth2 extends f.Static<typeof plain> {}
export const PlainOauth2 = f.named<PlainOauth2>('PlainOauth2', plain);

const validation = f.block(f.oneOf(['introspection', 'introspectionUrl', 'jwt'], ['azure', 'default']), {
  introspection: f.group('Asks the provider about each token.', f.required('introspectionUrl'), {
    introspectionUrl: f.text('Endpoint.'),
    clientId: f.text('Client ID.'),
    clientSecretRef,
    disableClientSecret,
    userIdAttributeName: f.text('Attribute with the user.'),
  }),
  introspectionUrl: f.text('Deprecated; endpoint without client authentication.'),
  jwt: f.group('Verifies tokens by their signature.', {
    remoteJwks: f.group('Keys fetched over HTTP.', {
      url: f.text('URL of the key set.'),
      refreshInterval: f.duration('Interval between reads.', { default: '5m' }),
    }),
    localJwks: f.group('Inline keys.', { inlineString: f.text('The key set.', f.secretKeys) }),
    issuer: f.text('Must equal the claim `iss`. Empty: not checked.'),
    audiences: f.texts('Accepted audiences; the claim `aud` must contain one. Empty: not checked.'),
    requireExpiration: f.flag('True rejects tokens without `exp`.'),
  }),
  userinfoUrl: f.text('User info endpoint.'),
  allowHttp: f.flag(
    'Extension of this gateway. Allows http URLs of these endpoints and of the key set on other machines. Tokens, keys and the client secret are then sent unencrypted. http to this machine is always allowed.',
  ),
  cacheTimeout: f.duration('How long responses are cached; `0s` disables the cache.', { default: '10m' }),
  requiredScopes: f.group('Scopes that a token must have.', { scope: f.texts('The token must have all of them.') }),
  dynamicMetadataFromClaims,
  claimsToHeaders: f.list(ClaimToHeader, 'Claims to copy into request headers.'),
  ...providerKind,
});
/** Validates access tokens. */
export interface AccessTokenValidation extends f.Static<typeof validation> {}
export const AccessTokenValidation = f.named<AccessTokenValidation>('AccessTokenValidation', validation);

const MODES = ['oidcAuthorizationCode', 'oauth2', 'accessTokenValidation'] as const;
const fields = f.block(f.oneOf(MODES), {
  oidcAuthorizationCode: f.of(OidcAuthorizationCode, 'Login by OpenID Connect.'),
  oauth2: f.of(PlainOauth2, 'Login by plain OAuth 2.'),
  accessTokenValidation: f.of(AccessTokenValidation, 'Validates access tokens.'),
});
/** Login at a provider, or its access tokens. */
export interface Oauth2 extends f.Static<typeof fields> {}
export const Oauth2 = f.named<Oauth2>('Oauth2', fields);

const short = f.block(f.required('appUrl'), {
  clientId: f.text('Client ID.'),
  clientSecretRef,
  issuerUrl: f.text('Issuer.'),
  appUrl: f.text('URL of this application, for the redirect.'),
  callbackPath: f.text('Path to which the provider redirects users.'),
  scopes: f.texts('Scopes in addition to `openid`.'),
  authEndpointQueryParams,
});
/** Deprecated form of a login by OpenID Connect. */
export interface OidcShort extends f.Static<typeof short> {}
export const OidcShort = f.named<OidcShort>('OidcShort', short);

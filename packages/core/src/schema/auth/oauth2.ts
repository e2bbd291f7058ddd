import {
  block,
  bool,
  duration,
  empty,
  enumeration,
  int,
  list,
  map,
  named,
  of,
  ref,
  secret,
  secretKeys,
  text,
  type Static,
} from '../field.ts';
import { ClaimToHeader } from './jwt.ts';
import { RedisOptions, UserSession } from './session.ts';

const names = (description: string) => list(text(), description);
const clientSecretRef = ref('Secret with `client-secret`.');
const disableClientSecret = bool('The client has no secret.', { default: false });
const authEndpointQueryParams = map(text(), 'Parameters added to the authorize URL.');
const tokenEndpointQueryParams = map(text(), 'Parameters added to the token request.', secret);
const dynamicMetadataFromClaims = map(text(), 'Claim by metadata key.');
const allowHttp = bool(
  'Extension of this gateway. Allows http URLs of the provider on other machines. Codes, tokens, keys and the client secret are then sent unencrypted. http to this machine is always allowed.',
  { default: false },
);
const azure = block(
  {
    clientId: text('Id of the application that is allowed to read group memberships.'),
    tenantId: text('Id or domain of the tenant.'),
    clientSecret: ref('Secret with `client-secret` of that application.'),
    claimsCachingOptions: of(RedisOptions, 'Cache that processes share for groups. Default: each process has its own.'),
  },
  { required: ['clientId', 'tenantId', 'clientSecret'] },
);
/** Reads the groups of users whose tokens omit them because there are more than 200. */
export interface AzureGroups extends Static<typeof azure> {}
export const AzureGroups = named<AzureGroups>('AzureGroups', azure);
const providerKind = {
  azure: of(AzureGroups, 'Microsoft Entra: reads groups that a token omits because there are more than 200.'),
  default: empty('No provider-specific behavior.'),
} as const;

const authentication = block(
  {
    clientSecret: of(block({ clientSecretRef, disableClientSecret }), 'Authenticates with a client secret.'),
    privateKeyJwt: of(
      block(
        {
          signingKeyRef: ref('Secret with the private key.'),
          validFor: duration('Lifetime of an assertion.', { default: '5s' }),
        },
        { required: ['signingKeyRef'] },
      ),
      'Authenticates with a signed assertion.',
    ),
  },
  { oneOf: [{ members: ['clientSecret', 'privateKeyJwt'] }] },
);
const discovery = block({
  authEndpoint: text('Authorize endpoint.'),
  tokenEndpoint: text('Token endpoint.'),
  jwksUri: text('Key set.'),
  revocationEndpoint: text('Revocation endpoint.'),
  endSessionEndpoint: text('Logout endpoint.'),
  scopes: names('Supported scopes. A requested scope that is not listed is logged.'),
  responseTypes: names('Supported response types. A list without `code` is logged.'),
  subjects: names('Subject types; not used.'),
  idTokenAlgs: names('Algorithms of id tokens.'),
  authMethods: names('Client authentication methods.'),
  claims: names('Supported claims. A claim that becomes a header and is not listed is logged.'),
});
const claims = (description: string) =>
  of(block({ claimsToHeaders: list(ClaimToHeader, 'Claims to copy into request headers.') }), description);

const oidc = block(
  {
    clientId: text('Client ID.'),
    clientAuthentication: of(authentication, 'How the client authenticates at the token endpoint.'),
    clientSecretRef,
    disableClientSecret,
    issuerUrl: text('Issuer URL; `.well-known/openid-configuration` is read below it.'),
    allowHttp,
    discoveryOverride: of(discovery, 'Overrides for the provider metadata.'),
    discoveryPollInterval: duration('Interval between reads of the provider metadata.', { default: '30m' }),
    jwksCacheRefreshPolicy: of(
      block(
        {
          never: empty('Refuses.'),
          always: empty('When to read the key set.'),
          maxIdpReqPerPollingInterval: int('Number of reads per poll interval.', { minimum: 0 }),
        },
        { oneOf: [{ members: ['never', 'always', 'maxIdpReqPerPollingInterval'] }] },
      ),
      'Whether an unknown key id triggers a read of the key set. Default: `always`, at most every 5 s.',
    ),
    appUrl: text('URL of this application, for the redirect.'),
    callbackPath: text('Path to which the provider redirects users; requires a route.'),
    parseCallbackPathAsRegex: bool('The callback path is a regular expression.', { default: false }),
    logoutPath: text('Logout path. Unset: none.'),
    afterLogoutUrl: text('URL to redirect to after the logout. Default: `appUrl`.'),
    frontChannelLogout: of(block({ path: text('Path.') }), 'Path that the provider calls to log out.'),
    endSessionProperties: of(
      block({
        methodType: enumeration(['GetMethod', 'PostMethod'], 'Method.', { default: 'GetMethod' }),
        idTokenHint: bool(
          'Extension of this gateway. Sends the id token as `id_token_hint` at logout. Some providers require it; the token then appears in the browser, its history and the logs of the provider. Without it the provider receives `client_id`, and may ask the user for confirmation.',
          { default: false },
        ),
      }),
      'HTTP method for the logout endpoint.',
    ),
    scopes: names('Scopes in addition to `openid`.'),
    authEndpointQueryParams,
    tokenEndpointQueryParams,
    autoMapFromMetadata: of(
      block({ namespace: text('Metadata namespace.', { default: 'vendor_authconfig_oidc' }) }),
      'Reads parameters from metadata.',
    ),
    session: of(UserSession, 'Where sessions are stored. Default: in cookies.'),
    headers: of(
      block({
        idTokenHeader: text('Header with the id token.'),
        accessTokenHeader: text('Header with the access token.'),
        useBearerSchemaForAuthorization: bool('Puts `Bearer ` before the access token.', { default: false }),
      }),
      'Tokens to send to the upstream.',
    ),
    identityToken: claims('What to read from the id token.'),
    accessToken: claims('What to read from the access token.'),
    dynamicMetadataFromClaims,
    ...providerKind,
    sessionIdHeaderName: text('Deprecated; see `session.redis.headerName`.'),
  },
  {
    required: ['clientId', 'issuerUrl', 'appUrl', 'callbackPath'],
    oneOf: [
      { members: ['azure', 'default'] },
      { members: ['clientAuthentication', 'clientSecretRef'] },
      { members: ['clientAuthentication', 'disableClientSecret'] },
    ],
  },
);
/** Login by OpenID Connect. */
export interface OidcAuthorizationCode extends Static<typeof oidc> {}
export const OidcAuthorizationCode = named<OidcAuthorizationCode>('OidcAuthorizationCode', oidc);

const plain = block(
  {
    clientId: text('Client ID.'),
    clientSecretRef,
    disableClientSecret,
    appUrl: text('URL of this application, for the redirect.'),
    callbackPath: text('Path to which the provider redirects users; requires a route.'),
    authEndpoint: text('Authorize endpoint.'),
    tokenEndpoint: text('Token endpoint.'),
    revocationEndpoint: text('Revocation endpoint.'),
    allowHttp,
    scopes: names('Scopes.'),
    session: of(UserSession, 'Where sessions are stored. Default: in cookies.'),
    logoutPath: text('Logout path. Unset: none.'),
    afterLogoutUrl: text('URL to redirect to after the logout. Default: `appUrl`.'),
    authEndpointQueryParams,
    tokenEndpointQueryParams,
  },
  { required: ['clientId', 'appUrl', 'callbackPath', 'authEndpoint', 'tokenEndpoint'] },
);
/** Login by plain OAuth 2. */
export interface PlainOauth2 extends Static<typeof plain> {}
export const PlainOauth2 = named<PlainOauth2>('PlainOauth2', plain);

const validation = block(
  {
    introspection: of(
      block(
        {
          introspectionUrl: text('Endpoint.'),
          clientId: text('Client ID.'),
          clientSecretRef,
          disableClientSecret,
          userIdAttributeName: text('Attribute with the user.'),
        },
        { required: ['introspectionUrl'] },
      ),
      'Asks the provider about each token.',
    ),
    introspectionUrl: text('Deprecated; endpoint without client authentication.'),
    jwt: of(
      block({
        remoteJwks: of(
          block({
            url: text('URL of the key set.'),
            refreshInterval: duration('Interval between reads.', { default: '5m' }),
          }),
          'Keys fetched over HTTP.',
        ),
        localJwks: of(block({ inlineString: text('The key set.', secretKeys) }), 'Inline keys.'),
        issuer: text('Must equal the claim `iss`. Empty: not checked.'),
        audiences: names('Accepted audiences; the claim `aud` must contain one. Empty: not checked.'),
      }),
      'Verifies tokens by their signature.',
    ),
    userinfoUrl: text('User info endpoint.'),
    allowHttp: bool(
      'Extension of this gateway. Allows http URLs of these endpoints and of the key set on other machines. Tokens, keys and the client secret are then sent unencrypted. http to this machine is always allowed.',
      { default: false },
    ),
    cacheTimeout: duration('How long responses are cached; `0s` disables the cache.', { default: '10m' }),
    requiredScopes: of(block({ scope: names('The token must have all of them.') }), 'Scopes that a token must have.'),
    dynamicMetadataFromClaims,
    claimsToHeaders: list(ClaimToHeader, 'Claims to copy into request headers.'),
    ...providerKind,
  },
  { oneOf: [{ members: ['introspection', 'introspectionUrl', 'jwt'] }, { members: ['azure', 'default'] }] },
);
/** Validates access tokens. */
export interface AccessTokenValidation extends Static<typeof validation> {}
export const AccessTokenValidation = named<AccessTokenValidation>('AccessTokenValidation', validation);

const MODES = ['oidcAuthorizationCode', 'oauth2', 'accessTokenValidation'] as const;
const fields = block(
  {
    oidcAuthorizationCode: of(OidcAuthorizationCode, 'Login by OpenID Connect.'),
    oauth2: of(PlainOauth2, 'Login by plain OAuth 2.'),
    accessTokenValidation: of(AccessTokenValidation, 'Validates access tokens.'),
  },
  { oneOf: [{ members: MODES }] },
);
/** Login at a provider, or its access tokens. */
export interface Oauth2 extends Static<typeof fields> {}
export const Oauth2 = named<Oauth2>('Oauth2', fields);

const short = block(
  {
    clientId: text('Client ID.'),
    clientSecretRef,
    issuerUrl: text('Issuer.'),
    appUrl: text('URL of this application, for the redirect.'),
    callbackPath: text('Path to which the provider redirects users.'),
    scopes: names('Scopes in addition to `openid`.'),
    authEndpointQueryParams,
  },
  { required: ['appUrl'] },
);
/** Deprecated form of a login by OpenID Connect. */
export interface OidcShort extends Static<typeof short> {}
export const OidcShort = named<OidcShort>('OidcShort', short);

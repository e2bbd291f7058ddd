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
} from './field.ts';
import { ClaimToHeader } from './jwt.ts';
import { RedisOptions, UserSession } from './session.ts';

const names = (description: string) => list(text(), description);
const clientSecretRef = ref('Secret with `client-secret`.');
const disableClientSecret = bool('There is no client secret.', { default: false });
const authEndpointQueryParams = map(text(), 'Parameters added to the authorize URL.');
const tokenEndpointQueryParams = map(text(), 'Parameters added to the token request.', secret);
const dynamicMetadataFromClaims = map(text(), 'Claim by metadata key.');
const allowHttp = bool(
  'Extension of this gateway. Permits http addresses of the provider on other machines. Codes, tokens, keys and the client secret then travel unencrypted. http to this machine needs no permission.',
  { default: false },
);
const azure = block(
  {
    clientId: text('Id of the application that may read group memberships.'),
    tenantId: text('Id or domain of the tenant.'),
    clientSecret: ref('Secret with `client-secret` of that application.'),
    claimsCachingOptions: of(
      RedisOptions,
      'Where processes share the groups they have read. Default: each for itself.',
    ),
  },
  { required: ['clientId', 'tenantId', 'clientSecret'] },
);
/** Reads the groups of users whose tokens leave them out because they are more than 200. */
export interface AzureGroups extends Static<typeof azure> {}
export const AzureGroups = named<AzureGroups>('AzureGroups', azure);
const providerKind = {
  azure: of(AzureGroups, 'Microsoft Entra: groups that a token leaves out because they are more than 200 are read.'),
  default: empty('Nothing beyond the standard.'),
} as const;

const authentication = block(
  {
    clientSecret: of(block({ clientSecretRef, disableClientSecret }), 'With a client secret.'),
    privateKeyJwt: of(
      block(
        {
          signingKeyRef: ref('Secret with the private key.'),
          validFor: duration('Lifetime of an assertion.', { default: '5s' }),
        },
        { required: ['signingKeyRef'] },
      ),
      'With a signed assertion.',
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
  scopes: names('Scopes. One that is asked for and not listed is a line in the log.'),
  responseTypes: names('Response types. Without `code` there is a line in the log.'),
  subjects: names('Subject types. Nothing depends on them.'),
  idTokenAlgs: names('Algorithms of id tokens.'),
  authMethods: names('Client authentication methods.'),
  claims: names('Claims. One that becomes a header and is not listed is a line in the log.'),
});
const claims = (description: string) =>
  of(block({ claimsToHeaders: list(ClaimToHeader, 'Claims to copy into request headers.') }), description);

const oidc = block(
  {
    clientId: text('Client id.'),
    clientAuthentication: of(authentication, 'How the client identifies itself at the token endpoint.'),
    clientSecretRef,
    disableClientSecret,
    issuerUrl: text('Issuer; `.well-known/openid-configuration` is read below it.'),
    allowHttp,
    discoveryOverride: of(discovery, 'What is used instead of what the provider says.'),
    discoveryPollInterval: duration('Time between reads of what the provider says.', { default: '30m' }),
    jwksCacheRefreshPolicy: of(
      block(
        {
          never: empty('Refuses.'),
          always: empty('Reads the key set.'),
          maxIdpReqPerPollingInterval: int('Reads it so often in one poll interval.', { minimum: 0 }),
        },
        { oneOf: [{ members: ['never', 'always', 'maxIdpReqPerPollingInterval'] }] },
      ),
      'What an unknown key id leads to. Default: `always`; it is read at most every 5 s.',
    ),
    appUrl: text('Address of this application, for the redirect.'),
    callbackPath: text('Path the provider sends users back to; needs a route.'),
    parseCallbackPathAsRegex: bool('The callback path is a regular expression.', { default: false }),
    logoutPath: text('Path that logs out. Unset: none.'),
    afterLogoutUrl: text('Where users go after it. Default: `appUrl`.'),
    frontChannelLogout: of(block({ path: text('Path.') }), 'Path that the provider calls to log out.'),
    endSessionProperties: of(
      block({
        methodType: enumeration(['GetMethod', 'PostMethod'], 'Method.', { default: 'GetMethod' }),
        idTokenHint: bool(
          'Extension of this gateway. Sends the id token as `id_token_hint`. Some providers need it; the token then passes through the browser, its history and the logs of the provider. Without it the provider gets `client_id`, and may ask the user.',
          { default: false },
        ),
      }),
      'How the logout endpoint is called.',
    ),
    scopes: names('Scopes beside `openid`.'),
    authEndpointQueryParams,
    tokenEndpointQueryParams,
    autoMapFromMetadata: of(
      block({ namespace: text('Metadata namespace.', { default: 'vendor_authconfig_oidc' }) }),
      'Takes parameters from metadata.',
    ),
    session: of(UserSession, 'Where logins are kept. Default: in cookies.'),
    headers: of(
      block({
        idTokenHeader: text('Header with the id token.'),
        accessTokenHeader: text('Header with the access token.'),
        useBearerSchemaForAuthorization: bool('Puts `Bearer ` before the access token.', { default: false }),
      }),
      'Tokens that the upstream gets.',
    ),
    identityToken: claims('What is taken from the id token.'),
    accessToken: claims('What is taken from the access token.'),
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
    clientId: text('Client id.'),
    clientSecretRef,
    disableClientSecret,
    appUrl: text('Address of this application, for the redirect.'),
    callbackPath: text('Path the provider sends users back to; needs a route.'),
    authEndpoint: text('Authorize endpoint.'),
    tokenEndpoint: text('Token endpoint.'),
    revocationEndpoint: text('Revocation endpoint.'),
    allowHttp,
    scopes: names('Scopes.'),
    session: of(UserSession, 'Where logins are kept. Default: in cookies.'),
    logoutPath: text('Path that logs out. Unset: none.'),
    afterLogoutUrl: text('Where users go after it. Default: `appUrl`.'),
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
          clientId: text('Client id.'),
          clientSecretRef,
          disableClientSecret,
          userIdAttributeName: text('Attribute with the user.'),
        },
        { required: ['introspectionUrl'] },
      ),
      'Asks the provider for each token.',
    ),
    introspectionUrl: text('Deprecated; endpoint without client authentication.'),
    jwt: of(
      block({
        remoteJwks: of(
          block({
            url: text('Address of the key set.'),
            refreshInterval: duration('Time between reads.', { default: '5m' }),
          }),
          'Keys fetched over HTTP.',
        ),
        localJwks: of(block({ inlineString: text('The key set.', secretKeys) }), 'Inline keys.'),
        issuer: text('Has to equal the claim `iss`. Empty: not checked.'),
        audiences: names('Of which the claim `aud` has to name one. Empty: not checked.'),
      }),
      'Checks tokens by their signature.',
    ),
    userinfoUrl: text('Endpoint that is asked for the user.'),
    allowHttp: bool(
      'Extension of this gateway. Permits http addresses of these endpoints and of the key set on other machines. Tokens, keys and the client secret then travel unencrypted. http to this machine needs no permission.',
      { default: false },
    ),
    cacheTimeout: duration('How long answers are kept; `0s` does not keep them.', { default: '10m' }),
    requiredScopes: of(block({ scope: names('All are needed.') }), 'Scopes that a token has to have.'),
    dynamicMetadataFromClaims,
    claimsToHeaders: list(ClaimToHeader, 'Claims to copy into request headers.'),
    ...providerKind,
  },
  { oneOf: [{ members: ['introspection', 'introspectionUrl', 'jwt'] }, { members: ['azure', 'default'] }] },
);
/** Checks access tokens. */
export interface AccessTokenValidation extends Static<typeof validation> {}
export const AccessTokenValidation = named<AccessTokenValidation>('AccessTokenValidation', validation);

const MODES = ['oidcAuthorizationCode', 'oauth2', 'accessTokenValidation'] as const;
const fields = block(
  {
    oidcAuthorizationCode: of(OidcAuthorizationCode, 'Login by OpenID Connect.'),
    oauth2: of(PlainOauth2, 'Login by plain OAuth 2.'),
    accessTokenValidation: of(AccessTokenValidation, 'Checks access tokens.'),
  },
  { oneOf: [{ members: MODES }] },
);
/** Login at a provider, or its access tokens. */
export interface Oauth2 extends Static<typeof fields> {}
export const Oauth2 = named<Oauth2>('Oauth2', fields);

const short = block(
  {
    clientId: text('Client id.'),
    clientSecretRef,
    issuerUrl: text('Issuer.'),
    appUrl: text('Address of this application, for the redirect.'),
    callbackPath: text('Path the provider sends users back to.'),
    scopes: names('Scopes beside `openid`.'),
    authEndpointQueryParams,
  },
  { required: ['appUrl'] },
);
/** Deprecated form of a login by OpenID Connect. */
export interface OidcShort extends Static<typeof short> {}
export const OidcShort = named<OidcShort>('OidcShort', short);

import {
  anything,
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
  refused,
  secret,
  text,
  type Static,
} from '../field.ts';
import { Oauth2, OidcShort } from './oauth2.ts';
import { PassThroughAuth } from './pass-through-auth.ts';
import { RedisOptions } from './session.ts';

const users = map(
  block({
    salt: text('Salt.', secret),
    hashedPassword: text('Hash of password and salt.', secret),
  }),
  'Salt and hash by user.',
);
const basic = block(
  {
    realm: text('Realm of the challenge.', { default: '' }),
    apr: of(block({ users }), 'Users with APR1 hashes.'),
    encryption: of(
      block(
        { apr: empty('APR1 hashes.'), sha1: empty('SHA-1 of password and salt, as hex digits.') },
        { oneOf: [{ members: ['apr', 'sha1'] }] },
      ),
      'Hash of `userList`.',
    ),
    userList: of(block({ users }), 'Users with hashes of `encryption`.'),
  },
  { oneOf: [{ members: ['apr', 'encryption'] }, { members: ['apr', 'userList'] }] },
);
/** User name and password. */
export interface BasicAuth extends Static<typeof basic> {}
export const BasicAuth = named<BasicAuth>('BasicAuth', basic);

const metadataEntry = map(
  block({
    name: text('Metadata entry of the key.'),
    required: bool('Rejects API keys without the entry.', { default: false }),
  }),
  'Metadata entries by the request header that carries them.',
);
const labelSelector = map(text(), 'Labels that the Secret of a key must have.');
const apiKeySecretRefs = list(ref(), 'Secrets with API keys.');
const aerospike = block(
  {
    hostname: text('Host of the database.'),
    namespace: text('Namespace in the database.', { default: 'vendor-namespace' }),
    set: text('Set in the database.', { default: 'apikeys' }),
    port: int('Port.', { minimum: 0, maximum: 65535, default: 3000 }),
    batchSize: int('Number of keys per read.', { minimum: 0, default: 5000 }),
    labelSelector,
    nodeTlsName: text('Server name for TLS.'),
    certPath: text('File with the client certificate.'),
    keyPath: text('File with its key.'),
    rootCaPath: text('File with root certificates.'),
    allowInsecure: bool('Skips certificate verification.', { default: false }),
    tlsVersion: text('Minimum TLS version.', { default: '1.3' }),
    tlsCurveGroups: list(anything(), 'Curves.'),
    commitAll: int('Writes to all replicas.'),
    commitMaster: int('Writes to the master.'),
    readModeSc: anything('Read mode for strong consistency.'),
    readModeAp: anything('Read mode for availability.'),
  },
  { oneOf: [{ members: ['commitAll', 'commitMaster'] }] },
);
const apiKey = block(
  {
    headerName: text('Request header with the key.', { default: 'api-key' }),
    k8sSecretApikeyStorage: of(block({ labelSelector, apiKeySecretRefs }), 'Keys in Secrets.'),
    aerospikeApikeyStorage: of(aerospike, 'Deprecated; keys in a database.', {
      ...refused,
      'x-instead': 'write the keys as Secrets and choose them with k8sSecretApikeyStorage',
    }),
    labelSelector,
    apiKeySecretRefs,
    headersFromMetadataEntry: metadataEntry,
    headersFromMetadata: metadataEntry,
    skipMetadataValidation: bool(
      'Accepts metadata that is not a valid header value: sends it as UTF-8, or passes it only to later steps if no header can carry it.',
      { default: false },
    ),
    hmac: of(
      block({
        algorithm: enumeration(['HMAC_SHA256'], 'Algorithm.', { default: 'HMAC_SHA256' }),
        sharedSecretRef: ref('Secret with the shared secret.'),
      }),
      'Stored keys are HMAC digests.',
    ),
    digest: of(
      block({ algorithm: enumeration(['SHA256'], 'Algorithm.', { default: 'SHA256' }) }),
      'Stored keys are digests.',
    ),
    match: of(
      block({ headers: list(block({ name: text('Header and data key.') }), 'Headers that must equal data keys.') }),
      'Additional conditions; only with `digest`.',
    ),
  },
  { oneOf: [{ members: ['k8sSecretApikeyStorage', 'aerospikeApikeyStorage'] }, { members: ['hmac', 'digest'] }] },
);
/** A key in a request header. */
export interface ApiKeyAuth extends Static<typeof apiKey> {}
export const ApiKeyAuth = named<ApiKeyAuth>('ApiKeyAuth', apiKey);

const hmac = block({
  secretRefs: of(block({ secretRefs: list(ref(), 'Secrets with user name and password.') }), 'Users that may sign.'),
  parametersInHeaders: empty('The signature is in headers.'),
});
const opaOptions = of(
  block({
    fastInputConversion: bool('Passes only scalars, maps and lists of strings.', { default: false }),
    returnDecisionReason: bool('Deprecated; keeps the reason as metadata.', { default: false }),
  }),
  'Options.',
);
const opa = block(
  {
    modules: list(ref(), 'ConfigMaps with Rego modules.'),
    query: text('Query whose result must be true.'),
    options: opaOptions,
  },
  { required: ['query'] },
);
const opaServer = block(
  {
    package: text('Package of the rule.'),
    ruleName: text('Rule, with slashes between its parts.'),
    serverAddr: text('Address of the server, `host:port`.', { default: 'http://localhost:8181' }),
    options: opaOptions,
  },
  { required: ['package'] },
);
const ldap = block(
  {
    address: text('Address of the server, `host:port` or `ldap://host:port`.'),
    userDnTemplate: text('Distinguished name of a user entry, with one `%s` for the user.'),
    membershipAttributeName: text('Attribute with the groups.', { default: 'memberOf' }),
    allowedGroups: list(text(), 'Allowed groups; the user must be in one of them.'),
    searchFilter: text('Search filter.', { default: '(uid=*)' }),
    disableGroupChecking: bool('Skips the group check.', { default: false }),
    pool: of(
      block({
        maxSize: int('Maximum number of pooled connections.', { minimum: 0, default: 5 }),
        initialSize: int('Connections opened at startup.', { minimum: 0, default: 2 }),
      }),
      'Connections.',
    ),
    groupLookupSettings: of(
      block({
        checkGroupsWithServiceAccount: bool('Searches groups with a service account.', { default: false }),
        credentialsSecretRef: ref('Secret of the service account.'),
      }),
      'How groups are searched.',
    ),
  },
  { required: ['address'] },
);
const portal = block(
  {
    url: text('Address of the portal.'),
    apiKeyHeader: text('Header with the key.'),
    redisOptions: of(RedisOptions, 'Cache.'),
    cacheDuration: duration('How long responses are cached.', { default: '60s' }),
    requestTimeout: duration('Timeout of a request.', { default: '200ms' }),
  },
  { required: ['url'] },
);
const plugin = block({
  name: text('Name.'),
  pluginFileName: text('File. Default: the name and `.so`.'),
  exportedSymbolName: text('Symbol. Default: the name.'),
  config: anything('Settings.'),
});

/** The methods of an auth step; a step has exactly one. */
export const AUTH_METHODS = {
  basicAuth: of(BasicAuth, 'User name and password.'),
  oauth2: of(Oauth2, 'Login at a provider, or its access tokens.'),
  apiKeyAuth: of(ApiKeyAuth, 'A key in a request header.'),
  hmacAuth: of(hmac, 'Signed requests.', refused),
  jwt: empty('Succeeds if a token was verified earlier.'),
  opaAuth: of(opa, 'Rego rules.', refused),
  opaServerAuth: of(opaServer, 'An Open Policy Agent server.', refused),
  ldap: of(ldap, 'Users and groups of an LDAP server.', refused),
  passThroughAuth: of(PassThroughAuth, 'Your own server decides.'),
  portalAuth: of(portal, 'Keys and tokens of a developer portal.', refused),
  oauth: of(OidcShort, 'Deprecated; login at a provider.', refused),
  pluginAuth: of(plugin, 'Deprecated; a plugin decides.', refused),
} as const;
/** Names of the methods. */
export const AUTH_METHOD_NAMES = Object.keys(AUTH_METHODS);

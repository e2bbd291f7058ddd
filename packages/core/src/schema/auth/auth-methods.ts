import * as f from '../field.ts';
import { Oauth2, OidcShort } from './oauth2.ts';
import { PassThroughAuth } from './pass-through-auth.ts';
import { RedisOptions } from './session.ts';

const users = f.map(
  f.block({
    salt: f.text('Salt.', f.secret),
    hashedPassword: f.text('Hash of password and salt.', f.secret),
  }),
  'Salt and hash by user.',
);
const basic = f.block(f.oneOf(['apr', 'encryption'], ['apr', 'userList']), {
  realm: f.text('Realm of the challenge.', { default: '' }),
  apr: f.group('Users with APR1 hashes.', { users }),
  encryption: f.group('Hash of `userList`.', f.exclusive, {
    apr: f.empty('APR1 hashes.'),
    sha1: f.empty('SHA-1 of password and salt, as hex digits.'),
  }),
  userList: f.group('Users with hashes of `encryption`.', { users }),
});
/** User name and password. */
export interface BasicAuth extends f.Static<typeof basic> {}
export const BasicAuth = f.named<BasicAuth>('BasicAuth', basic);

const metadataEntry = f.map(
  f.block({
    name: f.text('Metadata entry of the key.'),
    required: f.flag('Rejects API keys without the entry.'),
  }),
  'Metadata entries by the request header that carries them.',
);
const labelSelector = f.map(f.text(), 'Labels that the Secret of a key must have.');
const apiKeySecretRefs = f.list(f.ref(), 'Secrets with API keys.');
const aerospike = f.block(f.oneOf(['commitAll', 'commitMaster']), {
  hostname: f.text('Host of the database.'),
  namespace: f.text('Namespace in the database.', { default: 'vendor-namespace' }),
  set: f.text('Set in the database.', { default: 'apikeys' }),
  port: f.port('Port.', { default: 3000 }),
  batchSize: f.count('Number of keys per read.', { default: 5000 }),
  labelSelector,
  nodeTlsName: f.text('Server name for TLS.'),
  certPath: f.text('File with the client certificate.'),
  keyPath: f.text('File with its key.'),
  rootCaPath: f.text('File with root certificates.'),
  allowInsecure: f.flag('Skips certificate verification.'),
  tlsVersion: f.text('Minimum TLS version.', { default: '1.3' }),
  tlsCurveGroups: f.list(f.anything(), 'Curves.'),
  commitAll: f.int('Writes to all replicas.'),
  commitMaster: f.int('Writes to the master.'),
  readModeSc: f.anything('Read mode for strong consistency.'),
  readModeAp: f.anything('Read mode for availability.'),
});
const apiKey = f.block(f.oneOf(['k8sSecretApikeyStorage', 'aerospikeApikeyStorage'], ['hmac', 'digest']), {
  headerName: f.text('Request header with the key.', { default: 'api-key' }),
  k8sSecretApikeyStorage: f.group('Keys in Secrets.', { labelSelector, apiKeySecretRefs }),
  aerospikeApikeyStorage: f.of(aerospike, 'Deprecated; keys in a database.', {
    ...f.rejected,
    'x-instead': 'write the keys as Secrets and choose them with k8sSecretApikeyStorage',
  }),
  labelSelector,
  apiKeySecretRefs,
  headersFromMetadataEntry: metadataEntry,
  headersFromMetadata: metadataEntry,
  skipMetadataValidation: f.flag(
    'Accepts metadata that is not a valid header value: sends it as UTF-8, or passes it only to later steps if no header can carry it.',
  ),
  hmac: f.group('Stored keys are HMAC digests.', {
    algorithm: f.choice(['HMAC_SHA256'], 'Algorithm.'),
    sharedSecretRef: f.ref('Secret with the shared secret.'),
  }),
  digest: f.group('Stored keys are digests.', {
    algorithm: f.choice(['SHA256'], 'Algorithm.'),
  }),
  match: f.group('Additional conditions; only with `digest`.', {
    headers: f.groups('Headers that must equal data keys.', { name: f.text('Header and data key.') }),
  }),
});
/** A key in a request header. */
export interface ApiKeyAuth extends f.Static<typeof apiKey> {}
export const ApiKeyAuth = f.named<ApiKeyAuth>('ApiKeyAuth', apiKey);

const hmac = f.block(f.required('secretRefs'), {
  secretRefs: f.group('Users that may sign.', {
    secretRefs: f.list(
      f.ref(),
      'Secrets of type `extauth.vendor.io/accountcredentials`: the user name, and the password as the shared secret. At least one.',
    ),
  }),
  parametersInHeaders: f.empty('The signature is in the header `Authorization`. The only mode, and the default.'),
});
/** Signed requests. */
export interface HmacAuth extends f.Static<typeof hmac> {}
export const HmacAuth = f.named<HmacAuth>('HmacAuth', hmac);

const opaOptions = f.group('Options.', {
  fastInputConversion: f.flag('Passes only scalars, maps and lists of strings.'),
  returnDecisionReason: f.flag(
    'Deprecated; keeps `allowed` and the second element of the result as metadata `reason` of the step.',
  ),
});
const opa = f.block(f.required('query'), {
  modules: f.list(f.ref(), 'ConfigMaps whose values are Rego modules, or a compiled bundle in `binaryData`.'),
  query: f.text('Query whose result must be true.'),
  options: opaOptions,
});
/** Rego rules. */
export interface OpaAuth extends f.Static<typeof opa> {}
export const OpaAuth = f.named<OpaAuth>('OpaAuth', opa);

const opaServer = f.block(f.required('package'), {
  package: f.text('Package of the rule, e.g. `play.network`.'),
  ruleName: f.text('Rule, with slashes between its parts. Default: the whole package.'),
  serverAddr: f.text('Address of the server, `host:port` or an `http` or `https` URL.', {
    default: 'http://localhost:8181',
  }),
  options: opaOptions,
});
/** An Open Policy Agent server. */
export interface OpaServerAuth extends f.Static<typeof opaServer> {}
export const OpaServerAuth = f.named<OpaServerAuth>('OpaServerAuth', opaServer);

const ldap = f.block(f.required('address', 'userDnTemplate'), {
  address: f.text('Address of the server: `host:port`, `ldap://host:port` or `ldaps://host:port`.'),
  userDnTemplate: f.text('Distinguished name of a user entry, with one `%s` for the user.'),
  membershipAttributeName: f.text('Attribute with the groups of a user; case-insensitive.', { default: 'memberOf' }),
  allowedGroups: f.texts('Distinguished names of the allowed groups; the user must be in one of them.'),
  searchFilter: f.text('Filter that the entry of the user must match.', { default: '(uid=*)' }),
  disableGroupChecking: f.flag('Skips the group check.'),
  pool: f.group('Connections.', {
    maxSize: f.count('Maximum number of pooled connections.', { default: 5 }),
    initialSize: f.count('Connections opened at startup. No effect: connections are opened when they are needed.', {
      default: 2,
      ...f.unsupported,
    }),
  }),
  groupLookupSettings: f.group('How groups are searched.', {
    checkGroupsWithServiceAccount: f.flag('Searches groups with a service account.'),
    credentialsSecretRef: f.ref(
      'Secret of type `extauth.vendor.io/accountcredentials` of the service account; its user name is a distinguished name.',
    ),
  }),
});
/** Users and groups of an LDAP server. */
export interface Ldap extends f.Static<typeof ldap> {}
export const Ldap = f.named<Ldap>('Ldap', ldap);

const portal = f.block(f.required('url'), {
  url: f.text('Address of the portal.'),
  apiKeyHeader: f.text('Header with the key.'),
  redisOptions: f.of(RedisOptions, 'Cache.'),
  cacheDuration: f.duration('How long responses are cached.', { default: '60s' }),
  requestTimeout: f.duration('Timeout of a request.', { default: '200ms' }),
});
const plugin = f.block({
  name: f.text('Name.'),
  pluginFileName: f.text('File. Default: the name and `.so`.'),
  exportedSymbolName: f.text('Symbol. Default: the name.'),
  config: f.anything('Settings.'),
});

/** The methods of an auth step; a step has exactly one. */
export const AUTH_METHODS = {
  basicAuth: f.of(BasicAuth, 'User name and password.'),
  oauth2: f.of(Oauth2, 'Login at a provider, or its access tokens.'),
  apiKeyAuth: f.of(ApiKeyAuth, 'A key in a request header.'),
  hmacAuth: f.of(HmacAuth, 'Signed requests.'),
  jwt: f.empty('Succeeds if a token was verified earlier.'),
  opaAuth: f.of(OpaAuth, 'Rego rules.'),
  opaServerAuth: f.of(OpaServerAuth, 'An Open Policy Agent server.'),
  ldap: f.of(Ldap, 'Users and groups of an LDAP server.'),
  passThroughAuth: f.of(PassThroughAuth, 'Your own server decides.'),
  portalAuth: f.of(portal, 'Keys and tokens of a developer portal.', f.rejected),
  oauth: f.of(OidcShort, 'Deprecated; login at a provider.', f.rejected),
  pluginAuth: f.of(plugin, 'Deprecated; a plugin decides.', f.rejected),
} as const;
/** Names of the methods. */
export const AUTH_METHOD_NAMES = Object.keys(AUTH_METHODS);

import * as f from '../field.ts';

const directory = f.block(f.required('directory'), {
  directory: f.text('The directory; relative to that of `--config`.'),
});
const key = f.block({ rootKey: f.text('Root key of all others.', { default: 'gw' }) });

/** Where resources come from, besides the source of the command line (`--config`). */
export const ConfigSources = {
  kubernetesConfigSource: f.empty('The Kubernetes API, which `--kubernetes` selects.', f.onKubernetes),
  directoryConfigSource: f.of(
    directory,
    'A directory with more resources of all kinds except Settings. Files `<plural>/<namespace>/<name>.yaml` may have the fields of `spec` at the top.',
  ),
  consulKvSource: f.of(key, 'The key-value store of Consul.', f.unsupported),
} as const;

const vault = f.block({
  address: f.text('Address of the server.'),
  accessToken: f.text('Token.', f.secret),
  token: f.text('Deprecated; token.', f.secret),
  tlsConfig: f.group('TLS to the server.', {
    caCert: f.text('File with the root certificates.'),
    caPath: f.text('Directory with root certificates.'),
    clientCert: f.text('File with the client certificate.'),
    clientKey: f.text('File with its key.'),
    tlsServerName: f.text('Server name (SNI).'),
    insecure: f.flag('Skips certificate verification.'),
  }),
  caCert: f.text('Deprecated; see `tlsConfig`.'),
  caPath: f.text('Deprecated; see `tlsConfig`.'),
  clientCert: f.text('Deprecated; see `tlsConfig`.'),
  clientKey: f.text('Deprecated; see `tlsConfig`.'),
  tlsServerName: f.text('Deprecated; see `tlsConfig`.'),
  insecure: f.flag('Deprecated; see `tlsConfig`.'),
  rootKey: f.text('Root key of all others.', { default: 'gw' }),
  pathPrefix: f.text('Path of the secret engine.', { default: 'secret' }),
  aws: f.group('Logs in with AWS credentials.', {
    vaultRole: f.text('Role at the server.'),
    region: f.text('Region.'),
    iamServerIdHeader: f.text('Value of the header that names the server.'),
    mountPath: f.text('Path of the auth method.'),
    accessKeyId: f.text('Key id.'),
    secretAccessKey: f.text('Key.', f.secret),
    sessionToken: f.text('Session token.', f.secret),
    leaseIncrement: f.count('Lease increment in seconds.'),
  }),
});
/** Secrets from Vault. */
export interface VaultSecrets extends f.Static<typeof vault> {}
export const VaultSecrets = f.named<VaultSecrets>('VaultSecrets', vault);

const NO_VAULT = {
  ...f.notYet,
  'x-instead':
    'the gateway does not connect to Vault; let Vault Agent write files for `directorySecretSource`, or use Secrets of Kubernetes',
} as const;

/** Where secrets come from. */
export const SecretSources = {
  kubernetesSecretSource: f.empty('The Kubernetes API.', f.onKubernetes),
  vaultSecretSource: f.of(VaultSecrets, 'Vault.', NO_VAULT),
  directorySecretSource: f.of(directory, 'A directory with more Secrets.'),
} as const;

const secretOptions = f.block({
  sources: f.groups('The sources.', f.exclusive, {
    kubernetes: f.empty('The Kubernetes API.', f.onKubernetes),
    vault: f.of(VaultSecrets, 'Vault.', NO_VAULT),
    directory: f.of(directory, 'Files.'),
  }),
});
/** Several sources of secrets. */
export interface SecretOptions extends f.Static<typeof secretOptions> {}
export const SecretOptions = f.named<SecretOptions>('SecretOptions', secretOptions);

/** Where ConfigMaps come from. */
export const ArtifactSources = {
  kubernetesArtifactSource: f.empty('The Kubernetes API.', f.onKubernetes),
  directoryArtifactSource: f.of(directory, 'A directory with more ConfigMaps.'),
  consulKvArtifactSource: f.of(key, 'The key-value store of Consul.', f.unsupported),
} as const;

import { block, bool, empty, int, list, named, notYet, of, secret, text, type Static } from '../field.ts';

const directory = block({ directory: text('The directory.') });
const key = block({ rootKey: text('Root key of all others.', { default: 'gw' }) });

/** Where resources come from; the command line's `--config` is the one in use. */
export const ConfigSources = {
  kubernetesConfigSource: empty('The Kubernetes API.', notYet),
  directoryConfigSource: of(directory, 'Files `<dir>/<plural>/<namespace>/<name>.yaml`.', notYet),
  consulKvSource: of(key, 'The key-value store of Consul.', notYet),
} as const;

const vault = block({
  address: text('Address of the server.'),
  accessToken: text('Token.', secret),
  token: text('Deprecated; token.', secret),
  tlsConfig: of(
    block({
      caCert: text('File with the root certificates.'),
      caPath: text('Directory with root certificates.'),
      clientCert: text('File with the client certificate.'),
      clientKey: text('File with its key.'),
      tlsServerName: text('Server name (SNI).'),
      insecure: bool('Skips certificate verification.', { default: false }),
    }),
    'TLS to the server.',
  ),
  caCert: text('Deprecated; see `tlsConfig`.'),
  caPath: text('Deprecated; see `tlsConfig`.'),
  clientCert: text('Deprecated; see `tlsConfig`.'),
  clientKey: text('Deprecated; see `tlsConfig`.'),
  tlsServerName: text('Deprecated; see `tlsConfig`.'),
  insecure: bool('Deprecated; see `tlsConfig`.', { default: false }),
  rootKey: text('Root key of all others.', { default: 'gw' }),
  pathPrefix: text('Path of the secret engine.', { default: 'secret' }),
  aws: of(
    block({
      vaultRole: text('Role at the server.'),
      region: text('Region.'),
      iamServerIdHeader: text('Value of the header that names the server.'),
      mountPath: text('Path of the auth method.'),
      accessKeyId: text('Key id.'),
      secretAccessKey: text('Key.', secret),
      sessionToken: text('Session token.', secret),
      leaseIncrement: int('Lease increment in seconds.', { minimum: 0 }),
    }),
    'Logs in with AWS credentials.',
  ),
});
/** Secrets from Vault. */
export interface VaultSecrets extends Static<typeof vault> {}
export const VaultSecrets = named<VaultSecrets>('VaultSecrets', vault);

/** Where secrets come from. */
export const SecretSources = {
  kubernetesSecretSource: empty('The Kubernetes API.', notYet),
  vaultSecretSource: of(VaultSecrets, 'Vault.', notYet),
  directorySecretSource: of(directory, 'Files.', notYet),
} as const;

const secretOptions = block({
  sources: list(
    block(
      {
        kubernetes: empty('The Kubernetes API.'),
        vault: of(VaultSecrets, 'Vault.'),
        directory: of(directory, 'Files.'),
      },
      { oneOf: [{ members: ['kubernetes', 'vault', 'directory'] }] },
    ),
    'The sources.',
  ),
});
/** Several sources of secrets. */
export interface SecretOptions extends Static<typeof secretOptions> {}
export const SecretOptions = named<SecretOptions>('SecretOptions', secretOptions);

/** Where ConfigMaps come from. */
export const ArtifactSources = {
  kubernetesArtifactSource: empty('The Kubernetes API.', notYet),
  directoryArtifactSource: of(directory, 'Files.', notYet),
  consulKvArtifactSource: of(key, 'The key-value store of Consul.', notYet),
} as const;

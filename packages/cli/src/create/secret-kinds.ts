import { isHeaderName } from '@edge-gateway/core';
import { randomBytes } from 'node:crypto';
import { cliError } from '../error-codes.ts';
import type { Io } from '../io.ts';
import { needed, pairsOf, valueOf, valueOrFile, type Flags, type SecretContent } from './flags.ts';
import { readTls } from './tls-files.ts';

/** One subcommand of `create secret`. */
interface SecretKind {
  readonly command: string;
  readonly description: string;
  readonly type: string;
  readonly example: string;
  readonly options: readonly (readonly [flags: string, description: string])[];
  read(io: Io, flags: Flags): SecretContent;
}

/** A flag for a value, and one for a file with it: other users can see the arguments of a process. */
const valueOptions = (flag: string, what: string): SecretKind['options'] => [
  [`--${flag} <value>`, what],
  [`--${flag}-file <file>`, `file with the ${flag}`],
];

const ENCRYPTION_KEY_BYTES = 32;
const GENERATED_KEY_BYTES = 32;
/** Every kind of secret that `create secret` makes. */
export const SECRET_KINDS: readonly SecretKind[] = [
  {
    command: 'tls',
    description: 'Create a secret with a certificate and its key, or with root certificates.',
    type: 'kubernetes.io/tls',
    example: 'shop --certchain tls.crt --privatekey tls.key',
    options: [
      ['--certchain <file>', 'PEM file with the certificate and its chain'],
      ['--privatekey <file>', 'PEM file with the private key'],
      ['--rootca <file>', 'PEM file with root certificates to verify peers'],
      ['--ocspstaple <file>', 'DER file with the OCSP response'],
    ],
    read: readTls,
  },
  {
    command: 'oauth',
    description: 'Create a secret with the client secret of an identity provider.',
    type: 'extauth.vendor.io/oauth',
    example: 'login --client-secret-file secret.txt',
    options: valueOptions('client-secret', 'client secret'),
    read: (io, flags) => ({ data: { 'client-secret': valueOrFile(io, flags, 'client-secret') } }),
  },
  {
    command: 'apikey',
    description: 'Create a secret with an API key.',
    type: 'extauth.vendor.io/apikey',
    example: 'alice --apikey-generate --apikey-labels team=shop',
    options: [
      ...valueOptions('apikey', 'API key'),
      ['--apikey-generate', 'generate a key and print it once'],
      ['--apikey-labels <labels>', 'labels for selectors of auth configs, name=value,name=value'],
    ],
    read: readApiKey,
  },
  {
    command: 'authcredentials',
    description: 'Create a secret with a user name and a password.',
    type: 'extauth.vendor.io/accountcredentials',
    example: 'directory --username cn=gateway --password-file password.txt',
    options: [['--username <name>', 'user name'], ...valueOptions('password', 'password')],
    read: (io, flags) => ({
      data: { username: needed(flags, 'username'), password: valueOrFile(io, flags, 'password') },
    }),
  },
  {
    command: 'encryptionkey',
    description: 'Create a secret with a key that encrypts session cookies.',
    type: 'gw.vendor.io.EncryptionKeySecret',
    example: 'cookies --key 0123456789abcdef0123456789abcdef',
    options: valueOptions('key', 'key of 32 bytes'),
    read: readEncryptionKey,
  },
  {
    command: 'header',
    description: 'Create a secret with headers for requests to upstreams.',
    type: 'gw.vendor.io/header',
    example: 'probe --headers x-probe=yes,x-token=abc',
    options: [['--headers <headers>', 'headers, name=value,name=value']],
    read: readHeaders,
  },
];

function readEncryptionKey(io: Io, flags: Flags): SecretContent {
  const key = valueOrFile(io, flags, 'key');
  const length = Buffer.byteLength(key);
  if (length === ENCRYPTION_KEY_BYTES) return { data: { key } };
  throw cliError('ERR_CLI_USAGE', `the key must have ${ENCRYPTION_KEY_BYTES} bytes, not ${length}`);
}

function readHeaders(_io: Io, flags: Flags): SecretContent {
  needed(flags, 'headers');
  const data = pairsOf(flags, 'headers')!;
  const invalid = Object.keys(data).find((name) => !isHeaderName(name));
  if (invalid === undefined) return { data };
  throw cliError('ERR_CLI_USAGE', `--headers: invalid header name ${JSON.stringify(invalid)}`);
}

function readApiKey(io: Io, flags: Flags): SecretContent {
  const isGenerated = flags['apikeyGenerate'] === true;
  if (isGenerated && (valueOf(flags, 'apikey') ?? valueOf(flags, 'apikey-file')) !== undefined) {
    throw cliError('ERR_CLI_USAGE', '--apikey-generate cannot be combined with a key');
  }
  const key = isGenerated ? randomBytes(GENERATED_KEY_BYTES).toString('base64url') : valueOrFile(io, flags, 'apikey');
  const labels = pairsOf(flags, 'apikey-labels');
  return { data: { 'api-key': key }, ...(isGenerated && { generated: key }), ...(labels && { labels }) };
}

import { randomBytes, randomUUID, X509Certificate } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generate } from 'selfsigned';

const DAY_MS = 24 * 3600 * 1000;
const VALID_DAYS = 90;
/** A certificate with less than this left is made anew, before the gateway warns about it. */
const LEAST_MS = 30 * DAY_MS;

/** The names that the demo serves with its certificate. */
const SERVED_NAMES = ['localhost', 'echo.localhost'];

const SECRETS_FILE = 'secrets.yaml';

/** The secrets that the demo's resources refer to. They are not in the repository. */
export interface GeneratedSecrets {
  readonly file: string;
  readonly clientSecret: string;
}

/**
 * The secrets of the demo: the certificate for `localhost` and `echo.localhost`, and the client secret at the identity provider. They are in a file of resources in `folder`, readable by its owner only; what is there and still good is kept.
 */
export async function ensureSecrets(folder: string, now: number = Date.now()): Promise<GeneratedSecrets> {
  const file = join(folder, SECRETS_FILE);
  const known = clientSecretIn(file, now);
  if (known !== undefined) return { file, clientSecret: known };
  const clientSecret = randomBytes(24).toString('base64url');
  const text = await secretsYaml(clientSecret, now);
  mkdirSync(folder, { recursive: true });
  const temporary = `${file}.${randomUUID()}`;
  writeFileSync(temporary, text, { mode: 0o600 });
  try {
    linkSync(temporary, file);
  } catch {
    // Another demo may have started at the same time and was first.
    const other = clientSecretIn(file, now);
    if (other !== undefined) return { file, clientSecret: other };
    renameSync(temporary, file);
  } finally {
    rmSync(temporary, { force: true });
  }
  return { file, clientSecret };
}

/** The client secret of a file that was generated before; nothing when it is missing or damaged, or when its certificate ends soon or lacks a name. */
function clientSecretIn(file: string, now: number): string | undefined {
  try {
    const text = readFileSync(file, 'utf8');
    const value = (key: string): string =>
      Buffer.from(new RegExp(String.raw`^  ${key}: (\S+)$`, 'm').exec(text)?.[1] ?? '', 'base64').toString('utf8');
    const certificate = new X509Certificate(value(String.raw`tls\.crt`));
    if (certificate.validToDate.getTime() - now < LEAST_MS) return undefined;
    if (!SERVED_NAMES.every((name) => certificate.checkHost(name))) return undefined;
    return value('client-secret') || undefined;
  } catch {
    return undefined;
  }
}

async function secretsYaml(clientSecret: string, now: number): Promise<string> {
  const certificate = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    notBeforeDate: new Date(now - DAY_MS),
    notAfterDate: new Date(now + VALID_DAYS * DAY_MS),
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: [
          ...SERVED_NAMES.map((value) => ({ type: 2 as const, value })),
          { type: 7, ip: '127.0.0.1' },
          { type: 7, ip: '::1' },
        ],
      },
    ],
  });
  return [
    '# Made at the first start of the demo. Not for any other use.',
    secretYaml('demo-tls', 'kubernetes.io/tls', { 'tls.crt': certificate.cert, 'tls.key': certificate.private }),
    '---',
    secretYaml('demo-oauth', 'extauth.vendor.io/oauth', { 'client-secret': clientSecret }),
    '',
  ].join('\n');
}

function secretYaml(name: string, type: string, data: Readonly<Record<string, string>>): string {
  const lines = Object.entries(data).map(([key, value]) => `  ${key}: ${Buffer.from(value).toString('base64')}`);
  return `apiVersion: v1
kind: Secret
metadata:
  name: ${name}
  namespace: gw-system
type: ${type}
data:
${lines.join('\n')}`;
}

import type { ResourceRef } from '../resource.ts';
import type { SecretSpec } from '../schema/secret.ts';
import { tlsTextProblem } from '../tls-material.ts';
import { dotted } from './names.ts';
import type { Found } from './world.ts';

const ENTRIES = { cert: 'tls.crt', key: 'tls.key', ca: 'ca.crt' };
const TLS_TYPES = new Set(['kubernetes.io/tls', 'Opaque']);

/** What stands in a TLS secret; a problem is said where it is. */
export interface TlsSecret {
  readonly hasCertificate: boolean;
  readonly hasRootCa: boolean;
  readonly problem?: string;
}

/** What is wrong with a reference to a TLS secret. A missing secret may come later, so that it can be a mere warning. */
export interface TlsSecretProblem {
  readonly missing: boolean;
  readonly message: string;
}

const checked = new WeakMap<SecretSpec, TlsSecret>();

/** Reads and checks a TLS secret: types, PEM, and that the key belongs to the certificate. */
export function readTlsSecret(found: Found<SecretSpec>, ref: ResourceRef): TlsSecret | TlsSecretProblem {
  if (found.state === 'missing') return { missing: true, message: `SSL secret not found: no secret ${dotted(ref)}` };
  if (found.state === 'refused') return bad(`SSL secret ${dotted(ref)} is refused: ${found.cause}`);
  const { spec } = found.resource;
  const secret = checked.get(spec) ?? check(spec);
  checked.set(spec, secret);
  return secret.problem ? bad(`SSL secret ${dotted(ref)}: ${secret.problem}`) : secret;
}

export function isProblem(secret: TlsSecret | TlsSecretProblem): secret is TlsSecretProblem {
  return 'message' in secret;
}

function bad(message: string): TlsSecretProblem {
  return { missing: false, message };
}

function check(spec: SecretSpec): TlsSecret {
  const type = spec.type ?? 'Opaque';
  const [certificate, key, rootCa] = ['tls.crt', 'tls.key', 'ca.crt'].map((name) => entry(spec, name));
  const secret = { hasCertificate: !!certificate || !!key, hasRootCa: !!rootCa };
  const fail = (problem: string): TlsSecret => ({ ...secret, problem });
  if (!TLS_TYPES.has(type)) return fail(`a secret of type ${type} holds no certificate`);
  if (!certificate && !key && !rootCa) return fail('no certificate information found');
  if (!!certificate !== !!key)
    return fail(`no certificate information found: ${certificate ? 'tls.key' : 'tls.crt'} is missing`);
  const problem = tlsTextProblem({ cert: certificate, key, ca: rootCa }, ENTRIES);
  return problem ? fail(problem.message) : secret;
}

function entry({ data = {} }: SecretSpec, name: string): string | undefined {
  return data[name] ? Buffer.from(data[name], 'base64').toString('utf8') : undefined;
}

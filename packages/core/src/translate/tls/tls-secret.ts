import type { FieldProblem } from '../../resource/problem.ts';
import type { ResourceRef } from '../../resource/resource.ts';
import type { SecretSpec } from '../../schema/kind/secret.ts';
import { parseCertificates } from '../../security/certificates.ts';
import { isMustStaple, OCSP_STAPLE, stapleProblem } from '../../security/ocsp.ts';
import { tlsTextProblem } from '../../security/tls-material.ts';
import { faultOf, missingFault } from '../reference/missing.ts';
import { dotted } from '../names.ts';
import { find, type Resources } from '../reference/find.ts';

const ENTRIES = { cert: 'tls.crt', key: 'tls.key', ca: 'ca.crt' };
const TLS_TYPES = new Set(['kubernetes.io/tls', 'Opaque']);

/** The content of a TLS secret, or its problem. */
export interface TlsSecret {
  readonly hasCertificate: boolean;
  readonly hasRootCa: boolean;
  readonly hasStaple: boolean;
  /** True if the certificate demands a stapled OCSP response. */
  readonly isMustStaple: boolean;
  readonly problem?: string;
}

/** Reads and checks a TLS secret: types, PEM, and that the key belongs to the certificate. */
export function readTlsSecret(ref: ResourceRef, resources: Resources): TlsSecret | FieldProblem {
  const found = find<SecretSpec>(resources.stored, 'Secret', ref);
  if (found.state === 'missing') {
    return missingFault(`SSL secret not found: no secret ${dotted(ref)}`, 'Secret', ref, resources);
  }
  if (found.state === 'rejected') return faultOf(`SSL secret ${dotted(ref)} is rejected: ${found.cause}`);
  const secret = resources.derived.of(check, found.resource.spec);
  return secret.problem ? faultOf(`SSL secret ${dotted(ref)}: ${secret.problem}`) : secret;
}

export function isFault(secret: TlsSecret | FieldProblem): secret is FieldProblem {
  return 'message' in secret;
}

function check(spec: SecretSpec): TlsSecret {
  const type = spec.type ?? 'Opaque';
  const [certificate, key, rootCa] = ['tls.crt', 'tls.key', 'ca.crt'].map((name) => entry(spec, name));
  const encodedStaple = spec.data?.[OCSP_STAPLE];
  const [leaf] = parseCertificates(certificate ?? '') ?? [];
  const secret = {
    hasCertificate: !!certificate || !!key,
    hasRootCa: !!rootCa,
    hasStaple: !!encodedStaple,
    isMustStaple: !!leaf && isMustStaple(leaf),
  };
  const fail = (problem: string): TlsSecret => ({ ...secret, problem });
  if (!TLS_TYPES.has(type)) return fail(`a secret of type ${type} contains no certificate`);
  if (!certificate && !key && !rootCa) return fail('no certificate information found');
  if (!!certificate !== !!key)
    return fail(`no certificate information found: ${certificate ? 'tls.key' : 'tls.crt'} is missing`);
  const problem = tlsTextProblem({ cert: certificate, key, ca: rootCa }, ENTRIES);
  if (problem) return fail(problem.message);
  const staple = encodedStaple && stapleProblem(Buffer.from(encodedStaple, 'base64'), certificate);
  return staple ? fail(`${OCSP_STAPLE} ${staple}`) : secret;
}

function entry({ data = {} }: SecretSpec, name: string): string | undefined {
  return data[name] ? Buffer.from(data[name], 'base64').toString('utf8') : undefined;
}

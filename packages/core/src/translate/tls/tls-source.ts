import type { FieldProblem } from '../../resource/problem.ts';
import type { SslConfig } from '../../schema/listener/ssl-config.ts';
import { NEEDS_STAPLE } from '../../security/ocsp.ts';
import { sdsProblem } from '../../security/sds-target.ts';
import { contentText } from '../snapshot/content.ts';
import { listenerMessage } from '../status/messages.ts';
import { statusProblem, type FoundProblem } from '../status/report.ts';
import { isFault, readTlsSecret } from './tls-secret.ts';
import type { TranslationInput } from '../input.ts';

/** Suffix of a problem whose configuration is replaced by the last good one. */
export const KEEPS_SSL_CONFIG = '; the last good sslConfig stays in use';

/** Returns false if they verify the peer differently, so that neither may replace the other. */
export function verifiesAlike(one: SslConfig, other: SslConfig): boolean {
  const rules = ({ verifySubjectAltName = [], oneWayTls = false }: SslConfig) =>
    contentText([[...verifySubjectAltName].sort(), oneWayTls]);
  return rules(one) === rules(other);
}

/** Returns a problem of a certificate source as a problem of its listener. */
export function listenerProblem(problem: FieldProblem): FoundProblem {
  const { severity = 'error', message } = problem;
  const kind = severity === 'warning' ? 'SSLConfigWarning' : 'SSLConfigError';
  return statusProblem(severity, { ...problem, message: listenerMessage(kind, message) });
}

/** Returns the warning about a configuration that is replaced by the last good one. */
export function keptProblem(problem: FieldProblem): FoundProblem {
  const message = problem.message + KEEPS_SSL_CONFIG;
  return listenerProblem({ ...problem, severity: 'warning', message, effect: 'keeps-last-good' });
}

/** A problem of the certificate source of a configuration. */
export function sourceProblem(config: SslConfig, input: TranslationInput): FieldProblem | undefined {
  if (config.sds) return sdsSourceProblem(config, config.sds);
  if (config.sslFiles) return filesProblem(config, config.sslFiles);
  if (config.secretRef) return secretProblem(config, config.secretRef, input);
  return textProblem('no certificate information found: sslConfig names no source');
}

function textProblem(message: string): FieldProblem {
  return { code: 'STATUS', path: [], message };
}

function needsRootCa({ verifySubjectAltName }: SslConfig): boolean {
  return (verifySubjectAltName?.length ?? 0) > 0;
}

type Files = NonNullable<SslConfig['sslFiles']>;

function filesProblem(config: SslConfig, { tlsCert, tlsKey, rootCa, ocspStaple }: Files): FieldProblem | undefined {
  if (!tlsCert || !tlsKey) return textProblem('sslFiles needs tlsCert and tlsKey');
  if (config.ocspStaplePolicy === 'MUST_STAPLE' && !ocspStaple) return textProblem(`sslFiles: ${NEEDS_STAPLE}`);
  return needsRootCa(config) && !rootCa ? textProblem('verifySubjectAltName needs a root CA') : undefined;
}

type Sds = NonNullable<SslConfig['sds']>;

function sdsSourceProblem(config: SslConfig, sds: Sds): FieldProblem | undefined {
  const problem = sdsProblem(sds);
  if (problem) return textProblem(problem);
  if (!sds.certificatesSecretName) return textProblem('sds needs certificatesSecretName');
  return needsRootCa(config) && !sds.validationContextName
    ? textProblem('verifySubjectAltName needs a root CA')
    : undefined;
}

type SecretRef = NonNullable<SslConfig['secretRef']>;

function secretProblem(config: SslConfig, written: SecretRef, input: TranslationInput): FieldProblem | undefined {
  const ref = { name: written.name ?? '', namespace: written.namespace ?? '' };
  const secret = readTlsSecret(ref, input);
  if (isFault(secret)) {
    if (secret.unread) return undefined;
    const isWarning = secret.code === 'MISSING_REFERENCE' && input.settings.warnMissingTlsSecret;
    return { ...secret, severity: isWarning ? 'warning' : 'error' };
  }
  const name = `SSL secret ${ref.namespace}.${ref.name}`;
  if (!secret.hasCertificate) return textProblem(`${name}: no certificate information found`);
  const needsStaple = config.ocspStaplePolicy === 'MUST_STAPLE' || secret.isMustStaple;
  if (needsStaple && !secret.hasStaple) return textProblem(`${name}: ${NEEDS_STAPLE}`);
  return needsRootCa(config) && !secret.hasRootCa
    ? textProblem(`verifySubjectAltName needs a root CA, ${name} has none`)
    : undefined;
}

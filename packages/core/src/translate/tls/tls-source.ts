import type { SslConfig } from '../../schema/listener/ssl-config.ts';
import { contentText } from '../snapshot/content.ts';
import { listenerMessage } from '../status/messages.ts';
import type { Fault } from '../reference/missing.ts';
import type { Report } from '../status/report.ts';
import { isFault, readTlsSecret } from './tls-secret.ts';
import type { TranslationInput } from '../input.ts';

/** Suffix of a problem whose configuration is replaced by the last good one. */
export const KEEPS_SSL_CONFIG = '; the last good sslConfig stays in use';

/** Reports problems of the certificate source of a configuration; returns false if there are any. */
export function checkTlsSource(config: SslConfig, input: TranslationInput, report: Report): boolean {
  const problem = sourceProblem(config, input);
  if (!problem) return true;
  reportTlsSource(problem, report);
  return false;
}

/** Returns false if they verify the peer differently, so that neither may replace the other. */
export function verifiesAlike(one: SslConfig, other: SslConfig): boolean {
  const rules = ({ verifySubjectAltName = [], oneWayTls = false }: SslConfig) =>
    contentText([[...verifySubjectAltName].sort(), oneWayTls]);
  return rules(one) === rules(other);
}

/** Warns about a configuration that is replaced by the last good one. */
export function warnOfTlsSource(problem: SourceProblem, report: Report): void {
  reportTlsSource(
    { ...problem, mild: true, reason: problem.reason + KEEPS_SSL_CONFIG, effect: 'keeps-last-good' },
    report,
  );
}

function reportTlsSource(problem: SourceProblem, report: Report): void {
  if (problem.mild) report.warn(listenerMessage('SSLConfigWarning', problem.reason), undefined, problem);
  else report.error(listenerMessage('SSLConfigError', problem.reason), undefined, problem);
}

interface SourceProblem extends Fault {
  /** True for a warning. */
  readonly mild?: boolean;
}

/** A problem of the certificate source of a configuration. */
export function sourceProblem(config: SslConfig, input: TranslationInput): SourceProblem | undefined {
  if (config.sds) return { mild: true, reason: 'certificates from a secret discovery server are not served yet' };
  if (config.sslFiles) return filesProblem(config, config.sslFiles);
  if (config.secretRef) return secretProblem(config, config.secretRef, input);
  return { reason: 'no certificate information found: sslConfig names no source' };
}

function needsRootCa({ verifySubjectAltName }: SslConfig): boolean {
  return (verifySubjectAltName?.length ?? 0) > 0;
}

type Files = NonNullable<SslConfig['sslFiles']>;

function filesProblem(config: SslConfig, { tlsCert, tlsKey, rootCa }: Files): SourceProblem | undefined {
  if (!tlsCert || !tlsKey) return { reason: 'sslFiles needs tlsCert and tlsKey' };
  return needsRootCa(config) && !rootCa ? { reason: 'verifySubjectAltName needs a root CA' } : undefined;
}

type SecretRef = NonNullable<SslConfig['secretRef']>;

function secretProblem(config: SslConfig, written: SecretRef, input: TranslationInput): SourceProblem | undefined {
  const ref = { name: written.name ?? '', namespace: written.namespace ?? '' };
  const secret = readTlsSecret(ref, input);
  if (isFault(secret)) {
    return { ...secret, mild: secret.code === 'MISSING_REFERENCE' && input.settings.warnMissingTlsSecret };
  }
  const name = `SSL secret ${ref.namespace}.${ref.name}`;
  if (!secret.hasCertificate) return { reason: `${name}: no certificate information found` };
  return needsRootCa(config) && !secret.hasRootCa
    ? { reason: `verifySubjectAltName needs a root CA, ${name} has none` }
    : undefined;
}

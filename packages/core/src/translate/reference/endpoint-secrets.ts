import type { FieldPath, FieldProblem } from '../../resource/problem.ts';
import type { UpstreamSpec } from '../../schema/kind/upstream.ts';
import { failoverTls } from '../../source/tls-settings.ts';
import { isFault, readTlsSecret } from '../tls/tls-secret.ts';
import type { Resources } from './find.ts';

interface EndpointSecret {
  readonly name?: string;
  readonly namespace?: string;
  readonly at: FieldPath;
}

/** Returns the secrets that failover endpoints refer to, each with its path. */
export function endpointSecrets(spec: UpstreamSpec): EndpointSecret[] {
  return failoverTls(spec).flatMap(({ settings: { secretRef }, at }) =>
    secretRef ? [{ ...secretRef, at: [...at, 'secretRef'] }] : [],
  );
}

/** Returns why failover endpoints cannot be connected: a missing or invalid secret. */
export function endpointSecretProblems(spec: UpstreamSpec, namespace: string, all: Resources): FieldProblem[] {
  return endpointSecrets(spec).flatMap(({ name = '', namespace: own, at }) => {
    const secret = readTlsSecret({ name, namespace: own || namespace }, all);
    return isFault(secret) ? [{ ...secret, path: at }] : [];
  });
}

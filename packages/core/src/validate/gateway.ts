import type { FieldPath, FieldProblem } from '../resource/problem.ts';
import type { GatewaySpec, HttpGateway } from '../schema/kind/gateway.ts';
import type { HttpConnectionManagerSettings } from '../schema/listener/http-connection-manager.ts';
import { expressionProblem } from '../syntax/label-expression.ts';
import { checkAccessLog } from './access-log.ts';
import { checkExtAuth } from './auth/ext-auth.ts';
import { each, within } from './check.ts';
import { addedNameProblem, addedValueProblem, headerNameProblem } from './route/header-manipulation.ts';

const TYPES = ['httpGateway', 'tcpGateway', 'hybridGateway'] as const;

/** Returns problems of a Gateway. */
export function checkGateway(spec: GatewaySpec, at: FieldPath): FieldProblem[] {
  const logs = spec.options?.accessLoggingService?.accessLog;
  const findings = [
    ...each(logs, [...at, 'options', 'accessLoggingService', 'accessLog'], checkAccessLog),
    ...within(spec.httpGateway, [...at, 'httpGateway'], checkHttpGateway),
  ];
  if (!TYPES.some((type) => spec[type])) {
    findings.push({ code: 'INVALID_GATEWAY', path: at, message: 'the gateway has no type', hint: TYPES.join(', ') });
  }
  if (spec.bindPort === undefined) {
    findings.push({ code: 'INVALID_GATEWAY', path: at, message: 'the gateway has no port', hint: 'bindPort' });
  }
  const { hybridGateway: hybrid } = spec;
  if (hybrid && !hybrid.matchedGateways?.length && !hybrid.delegatedHttpGateways && !hybrid.delegatedTcpGateways) {
    const message = 'the hybrid gateway contains no gateway';
    findings.push({ code: 'INVALID_GATEWAY', path: [...at, 'hybridGateway'], message });
  }
  return findings;
}

/** Returns problems of an HTTP gateway. */
export function checkHttpGateway({ virtualServiceExpressions, options }: HttpGateway, at: FieldPath): FieldProblem[] {
  const expressions = virtualServiceExpressions?.expressions ?? [];
  const findings = expressions.flatMap((expression, i): FieldProblem[] => {
    const message = expressionProblem(expression);
    const path = [...at, 'virtualServiceExpressions', 'expressions', i];
    return message ? [{ code: 'INVALID_GATEWAY', path, message }] : [];
  });
  const settings = options?.httpConnectionManagerSettings;
  const path = [...at, 'options', 'httpConnectionManagerSettings'];
  return [
    ...findings,
    ...within(settings, path, checkConnectionManager),
    ...within(options?.extauth, [...at, 'options', 'extauth'], checkExtAuth),
  ];
}

function checkConnectionManager(settings: HttpConnectionManagerSettings, at: FieldPath): FieldProblem[] {
  const findings: FieldProblem[] = [];
  const { headersToAdd = [], headersToRemove = [] } = settings.earlyHeaderManipulation ?? {};
  const problems = [
    ...headersToAdd.map(
      ({ header = {} }) => addedNameProblem(header.key ?? '') ?? addedValueProblem(header, 'request'),
    ),
    ...headersToRemove.map(headerNameProblem),
  ];
  for (const message of problems) {
    if (message) findings.push({ code: 'INVALID_HEADER', path: [...at, 'earlyHeaderManipulation'], message });
  }
  if (settings.tracing?.openCensusConfig !== undefined) {
    const path = [...at, 'tracing', 'openCensusConfig'];
    findings.push({ code: 'INVALID_GATEWAY', path, message: 'openCensusConfig is not supported' });
  }
  return findings;
}

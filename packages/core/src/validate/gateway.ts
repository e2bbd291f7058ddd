import { isIP } from 'node:net';
import type { GatewaySpec, HttpGateway, TcpGateway } from '../schema/kind/gateway.ts';
import type { HttpConnectionManagerSettings } from '../schema/listener/http-connection-manager.ts';
import { expressionProblem } from '../syntax/label-expression.ts';
import { checkAccessLog } from './access-log.ts';
import { checkExtAuth } from './auth/ext-auth.ts';
import { checkForwardProxy } from './forward-proxy.ts';
import { checkStatefulSession } from './stateful-session.ts';
import { each, fields, reporterOf, type Check } from './check.ts';
import { checkBucket } from './rate-limit/limits.ts';
import { checkRateLimitServer } from './rate-limit/check-limit-server.ts';
import { EXT_PROC_CHECKS } from './route/ext-proc.ts';
import { checkCsrf } from './route/csrf.ts';
import { checkListenerDlp } from './route/dlp.ts';
import { addedNameProblem, addedValueProblem, headerNameProblem } from './route/header-manipulation.ts';

const TYPES = ['httpGateway', 'tcpGateway', 'hybridGateway'] as const;
const invalid = reporterOf('INVALID_GATEWAY');
const invalidHeader = reporterOf('INVALID_HEADER');

/** Returns problems of a Gateway. */
export const checkGateway: Check<GatewaySpec> = (spec, at) => {
  const { hybridGateway: hybrid } = spec;
  const isEmpty =
    hybrid && !hybrid.matchedGateways?.length && !hybrid.delegatedHttpGateways && !hybrid.delegatedTcpGateways;
  const logs = spec.options?.accessLoggingService?.accessLog;
  const connectionLogs = spec.options?.listenerAccessLoggingService?.accessLog;
  return [
    ...each(logs, [...at, 'options', 'accessLoggingService', 'accessLog'], checkAccessLog),
    ...each(connectionLogs, [...at, 'options', 'listenerAccessLoggingService', 'accessLog'], checkAccessLog),
    ...fields(spec, at, { httpGateway: checkHttpGateway, tcpGateway: checkTcpGateway }),
    ...invalid(!TYPES.some((type) => spec[type]) && 'the gateway has no type', at, { hint: TYPES.join(', ') }),
    ...invalid(spec.bindPort === undefined && 'the gateway has no port', at, { hint: 'bindPort' }),
    ...invalid(isEmpty && 'the hybrid gateway contains no gateway', [...at, 'hybridGateway']),
  ];
};

/** Returns problems of an HTTP gateway. */
export const checkHttpGateway: Check<HttpGateway> = ({ virtualServiceExpressions, options = {} }, at) => [
  ...each(
    virtualServiceExpressions?.expressions,
    [...at, 'virtualServiceExpressions', 'expressions'],
    (expression, path) => invalid(expressionProblem(expression), path),
  ),
  ...fields(options, [...at, 'options'], {
    httpConnectionManagerSettings: checkConnectionManager,
    dynamicForwardProxy: checkForwardProxy,
    extauth: checkExtAuth,
    statefulSession: checkStatefulSession,
    csrf: checkCsrf,
    dlp: checkListenerDlp,
    networkLocalRatelimit: checkBucket,
    httpLocalRatelimit: (block, path) => fields(block, path, { defaultLimit: checkBucket }),
    ratelimitServer: checkRateLimitServer,
    ...EXT_PROC_CHECKS,
    buffer: ({ maxRequestBytes }, path) => invalid(!maxRequestBytes && 'buffer needs maxRequestBytes', path),
    healthCheck: checkHealthPath,
  }),
];

/** Returns problems of a TCP gateway. */
export const checkTcpGateway: Check<TcpGateway> = ({ options = {} }, at) =>
  fields(options, [...at, 'options'], { localRatelimit: checkBucket });

const checkHealthPath: Check<{ readonly path?: string }> = ({ path = '' }, at) =>
  invalid(!path.startsWith('/') && `the path '${path}' of a health check must begin with a slash`, [...at, 'path']);

const checkConnectionManager: Check<HttpConnectionManagerSettings> = (settings, at) => {
  const { earlyHeaderManipulation, tracing, internalAddressConfig } = settings;
  const { headersToAdd = [], headersToRemove = [] } = earlyHeaderManipulation ?? {};
  const problems = [
    ...headersToAdd.map(
      ({ header = {} }) => addedNameProblem(header.key ?? '') ?? addedValueProblem(header, 'request'),
    ),
    ...headersToRemove.map(headerNameProblem),
  ];
  const isCensus = tracing?.openCensusConfig !== undefined;
  return [
    ...problems.flatMap((message) => invalidHeader(message, [...at, 'earlyHeaderManipulation'])),
    ...each(internalAddressConfig?.cidrRanges, [...at, 'internalAddressConfig', 'cidrRanges'], checkRange),
    ...invalid(isCensus && 'openCensusConfig is not supported', [...at, 'tracing', 'openCensusConfig']),
  ];
};

type Ranges = NonNullable<HttpConnectionManagerSettings['internalAddressConfig']>['cidrRanges'];

const checkRange: Check<NonNullable<Ranges>[number]> = ({ addressPrefix = '', prefixLen = 0 }, at) => {
  const family = isIP(addressPrefix);
  const isValid = family !== 0 && prefixLen <= (family === 4 ? 32 : 128);
  return invalid(!isValid && `invalid address range '${addressPrefix}/${prefixLen}'`, at);
};

import { isIP } from 'node:net';
import type { HttpListenerOptions, ListenerOptions } from '../schema/listener/gateway-options.ts';
import type { HttpConnectionManagerSettings } from '../schema/listener/http-connection-manager.ts';
import { checkExtAuth } from './auth/check-ext-auth.ts';
import { checkAccessLog } from './check-access-log.ts';
import { checkForwardProxy } from './check-forward-proxy.ts';
import { checkSocketOption } from './check-socket-option.ts';
import { checkStatefulSession } from './check-stateful-session.ts';
import { each, fields, reporterOf, type Check } from './check.ts';
import { checkRateLimitServer } from './rate-limit/check-limit-server.ts';
import { checkBucket } from './rate-limit/limits.ts';
import { checkCsrf } from './route/check-csrf.ts';
import { checkListenerDlp } from './route/check-dlp.ts';
import { EXT_PROC_CHECKS } from './route/check-ext-proc.ts';
import { addedNameProblem, addedValueProblem, headerNameProblem } from './route/check-header-manipulation.ts';
import { checkListenerUpgrades } from './route/check-route-options.ts';

const invalid = reporterOf('INVALID_GATEWAY');
const invalidHeader = reporterOf('INVALID_HEADER');

/** Returns problems of the options of a listener. */
export const checkListenerOptions: Check<ListenerOptions> = (options, at) => {
  const { accessLoggingService: requests, listenerAccessLoggingService: connections, socketOptions } = options;
  return [
    ...each(requests?.accessLog, [...at, 'accessLoggingService', 'accessLog'], checkAccessLog),
    ...each(connections?.accessLog, [...at, 'listenerAccessLoggingService', 'accessLog'], checkAccessLog),
    ...each(socketOptions, [...at, 'socketOptions'], checkSocketOption),
  ];
};

/** Returns problems of the HTTP options of a listener. */
export const checkHttpListenerOptions: Check<HttpListenerOptions> = (options, at) =>
  fields(options, at, {
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
  });

const checkHealthPath: Check<{ readonly path?: string }> = ({ path = '' }, at) =>
  invalid(!path.startsWith('/') && `the path '${path}' of a health check must begin with a slash`, [...at, 'path']);

/** Returns problems of the settings of HTTP connections. */
export const checkConnectionManager: Check<HttpConnectionManagerSettings> = (settings, at) => {
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
    ...fields(settings, at, { upgrades: checkListenerUpgrades }),
    ...each(internalAddressConfig?.cidrRanges, [...at, 'internalAddressConfig', 'cidrRanges'], checkRange),
    ...invalid(isCensus && 'openCensusConfig is not supported', [...at, 'tracing', 'openCensusConfig']),
  ];
};

type Ranges = NonNullable<HttpConnectionManagerSettings['internalAddressConfig']>['cidrRanges'];

/** Returns problems of a range of addresses. */
export const checkRange: Check<NonNullable<Ranges>[number]> = ({ addressPrefix = '', prefixLen = 0 }, at) => {
  const family = isIP(addressPrefix);
  const isValid = family !== 0 && prefixLen <= (family === 4 ? 32 : 128);
  return invalid(!isValid && `invalid address range '${addressPrefix}/${prefixLen}'`, at);
};

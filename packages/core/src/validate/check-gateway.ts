import type { FieldPath, FieldProblem } from '../resource/problem.ts';
import type {
  ConnectionMatcher,
  GatewaySpec,
  HttpGateway,
  MatchableHttpGatewaySpec,
  MatchableTcpGatewaySpec,
  TcpGateway,
  TcpHost,
} from '../schema/kind/gateway.ts';
import type { TcpListenerOptions } from '../schema/listener/gateway-options.ts';
import type { SslConfig } from '../schema/listener/ssl-config.ts';
import { CIPHER_SUITES } from '../security/cipher-suites.ts';
import { isHost } from '../syntax/host.ts';
import { checkDestination, checkWeighted } from './route/check-destination.ts';
import { checkSslConfig } from './check-ssl-config.ts';
import {
  checkConnectionManager,
  checkHttpListenerOptions,
  checkListenerOptions,
  checkRange,
} from './check-listener-options.ts';
import { expressionProblem } from '../syntax/label-expression.ts';
import { each, fields, reporterOf, within, type Check } from './check.ts';
import { checkBucket } from './rate-limit/limits.ts';
import { addedNameProblem, addedValueProblem } from './route/check-header-manipulation.ts';

const TYPES = ['httpGateway', 'tcpGateway', 'hybridGateway'] as const;
const invalid = reporterOf('INVALID_GATEWAY');
const invalidHeader = reporterOf('INVALID_HEADER');

/** Returns problems of a Gateway. */
export const checkGateway: Check<GatewaySpec> = (spec, at) => {
  const { hybridGateway: hybrid } = spec;
  const isEmpty =
    hybrid && !hybrid.matchedGateways?.length && !hybrid.delegatedHttpGateways && !hybrid.delegatedTcpGateways;
  return [
    ...fields(spec, at, {
      options: checkListenerOptions,
      httpGateway: checkHttpGateway,
      tcpGateway: checkTcpGateway,
      hybridGateway: checkHybridGateway,
    }),
    ...invalid(!TYPES.some((type) => spec[type]) && 'the gateway has no type', at, { hint: TYPES.join(', ') }),
    ...invalid(spec.bindPort === undefined && 'the gateway has no port', at, { hint: 'bindPort' }),
    ...invalid(isEmpty && 'the hybrid gateway contains no gateway', [...at, 'hybridGateway']),
  ];
};

/** Returns problems of an HTTP gateway. */
const checkHttpGateway: Check<HttpGateway> = ({ virtualServiceExpressions, options = {} }, at) => [
  ...each(
    virtualServiceExpressions?.expressions,
    [...at, 'virtualServiceExpressions', 'expressions'],
    (expression, path) => invalid(expressionProblem(expression), path),
  ),
  ...checkHttpListenerOptions(options, [...at, 'options']),
];

/** Returns problems of a TCP gateway. */
const checkTcpGateway: Check<TcpGateway> = ({ tcpHosts = [], options = {} }, at) => [
  ...invalid(tcpHosts.length === 0 && 'the TCP gateway has no host', [...at, 'tcpHosts']),
  ...each(tcpHosts, [...at, 'tcpHosts'], checkTcpHost),
  ...fields(options, [...at, 'options'], {
    localRatelimit: checkBucket,
    tcpProxySettings: (settings, path) => fields(settings, path, { tunnelingConfig: checkTunnel }),
  }),
];

const checkTcpHost: Check<TcpHost> = ({ sslConfig, destination }, at) => [
  ...within(sslConfig, [...at, 'sslConfig'], checkServerNames),
  ...invalid(Object.keys(destination ?? {}).length === 0 && 'the TCP host has no destination', [...at, 'destination']),
  ...within(destination, [...at, 'destination'], (own, path) =>
    fields(own, path, {
      single: checkDestination,
      multi: ({ destinations }, list) => checkWeighted(destinations, [...list, 'destinations']),
    }),
  ),
];

/** The TLS of connections that are chosen by their server name. */
const checkServerNames: Check<SslConfig> = (config, at) => [
  ...checkSslConfig(config, at),
  ...each(config.sniDomains, [...at, 'sniDomains'], (name, path) =>
    invalid(!SERVER_NAME.test(name) && `invalid server name '${name}'`, path, { hint: 'a.example.com, *.example.com' }),
  ),
];

/** Underscores are those of cluster names. */
const SERVER_NAME = /^(?:\*\.)?[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*$/i;

type Tunnel = NonNullable<NonNullable<TcpListenerOptions['tcpProxySettings']>['tunnelingConfig']>;

const checkTunnel: Check<Tunnel> = ({ hostname = '', headersToAdd = [] }, at) => {
  const isNamed = isHost(hostname) && /:\d+$/.test(hostname);
  return [
    ...invalid(!isNamed && `invalid tunnel hostname '${hostname}': must be host:port`, [...at, 'hostname']),
    ...each(headersToAdd, [...at, 'headersToAdd'], ({ header = {} }, path) =>
      invalidHeader(addedNameProblem(header.key ?? '') ?? addedValueProblem(header, 'request'), [...path, 'header']),
    ),
  ];
};

/** Returns problems of the matcher of an inner gateway. `isTcp` is true where TLS may pass through. */
function checkMatcher(matcher: ConnectionMatcher, at: FieldPath, isTcp: boolean): FieldProblem[] {
  const hasCiphers = (matcher.passthroughCipherSuites ?? []).length > 0;
  const field = [...at, 'passthroughCipherSuites'];
  return [
    ...within(matcher.sslConfig, [...at, 'sslConfig'], checkServerNames),
    ...each(matcher.sourcePrefixRanges, [...at, 'sourcePrefixRanges'], checkRange),
    ...invalid(hasCiphers && !isTcp && 'passthroughCipherSuites needs a tcpGateway', field),
    ...each(matcher.passthroughCipherSuites, field, (name, path) =>
      invalid(!CIPHER_SUITES.has(name) && `unknown cipher suite '${name}'`, path, { hint: 'an OpenSSL name' }),
    ),
  ];
}

const checkHybridGateway: Check<NonNullable<GatewaySpec['hybridGateway']>> = (hybrid, at) => [
  ...each(hybrid.matchedGateways, [...at, 'matchedGateways'], ({ matcher, httpGateway, tcpGateway }, path) => [
    ...invalid(!httpGateway && !tcpGateway && 'the inner gateway has no type', path, {
      hint: 'httpGateway, tcpGateway',
    }),
    ...fields({ httpGateway, tcpGateway }, path, { httpGateway: checkHttpGateway, tcpGateway: checkTcpGateway }),
    ...within(matcher, [...path, 'matcher'], (own, place) => checkMatcher(own, place, tcpGateway !== undefined)),
  ]),
  ...within(hybrid.delegatedHttpGateways, [...at, 'delegatedHttpGateways'], (own, path) =>
    fields(own, path, { httpConnectionManagerSettings: checkConnectionManager, sslConfig: checkServerNames }),
  ),
];

/** Returns problems of a MatchableHttpGateway. */
export const checkMatchableHttp: Check<MatchableHttpGatewaySpec> = (spec, at) => [
  ...fields(spec, at, { httpGateway: checkHttpGateway }),
  ...within(spec.matcher, [...at, 'matcher'], (matcher, path) => checkMatcher(matcher, path, false)),
];

/** Returns problems of a MatchableTcpGateway. */
export const checkMatchableTcp: Check<MatchableTcpGatewaySpec> = (spec, at) => [
  ...fields(spec, at, { tcpGateway: checkTcpGateway }),
  ...within(spec.matcher, [...at, 'matcher'], (matcher, path) => checkMatcher(matcher, path, true)),
];

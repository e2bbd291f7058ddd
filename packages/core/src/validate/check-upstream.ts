import { isIP } from 'node:net';
import { parseDuration } from '../syntax/duration.ts';
import { upstreamHttpVersion } from '../upstream/http-version.ts';
import type { StaticHost, StaticUpstream } from '../schema/upstream/upstream-types.ts';
import type { UpstreamSpec } from '../schema/kind/upstream.ts';
import { addressProblem } from './host-address.ts';
import { each, fields, reporterOf, within, type Check } from './check.ts';
import { checkFailover, checkLoadBalancer } from './check-load-balancing.ts';
import { checkHealthChecks, checkHostHealthCheck, checkOutlierDetection } from './check-health-checks.ts';
import { checkServiceSpec } from './check-rest-function.ts';
import { checkUpstreamSslConfig } from './check-ssl-config.ts';
import { checkPipe, checkTunnel } from './check-upstream-connections.ts';

const TYPES = ['static', 'kube', 'consul', 'aws', 'awsEc2', 'azure', 'pipe', 'gcp', 'ai'] as const;
const invalid = reporterOf('INVALID_UPSTREAM');
const reportTls = reporterOf('INVALID_SSL_CONFIG');
const invalidHost = reporterOf('INVALID_HOST');

/** Returns problems of an Upstream. Its status is a Warning: the reference only removes such an upstream. */
export const checkUpstream: Check<UpstreamSpec> = (spec, at) => {
  const isTyped = TYPES.some((type) => spec[type] !== undefined);
  return [
    ...fields(spec, at, {
      static: checkStatic,
      pipe: checkPipe,
      sslConfig: checkUpstreamSslConfig,
      httpConnectSslConfig: checkUpstreamSslConfig,
      loadBalancerConfig: checkLoadBalancer,
      failover: checkFailover,
      connectionKeepalive: checkKeepalive,
      healthChecks: checkHealthChecks,
      outlierDetection: checkOutlierDetection,
    }),
    ...checkTunnel(spec, at),
    ...checkProtocol(spec, at),
    ...checkDns(spec, at),
    ...invalid(!isTyped && 'the upstream has no type', at, { hint: TYPES.join(', ') }),
  ];
};

const checkStatic: Check<StaticUpstream> = ({ hosts = [], serviceSpec }, at) => [
  ...within(serviceSpec, [...at, 'serviceSpec'], checkServiceSpec),
  ...invalidHost(hosts.length === 0 && 'a static upstream needs at least one host', at),
  ...each(hosts, [...at, 'hosts'], checkHost),
];

const checkHost: Check<StaticHost> = ({ addr, port, loadBalancingWeight: weight, healthCheckConfig }, at) => [
  ...invalidHost(!addr && 'the host has no addr', at),
  ...invalidHost(!port && 'the host has no port', at),
  ...invalidHost(addr && addressProblem(addr), [...at, 'addr']),
  ...invalidHost(weight !== undefined && weight < 1 && 'loadBalancingWeight must be at least 1', [
    ...at,
    'loadBalancingWeight',
  ]),
  ...within(healthCheckConfig, [...at, 'healthCheckConfig'], checkHostHealthCheck),
];

const checkKeepalive: Check<NonNullable<UpstreamSpec['connectionKeepalive']>> = (keepalive, at) =>
  (['interval', 'timeout'] as const).flatMap((name) => {
    const written = keepalive[name];
    const isTooShort = written !== undefined && parseDuration(written) < 1;
    return invalid(isTooShort && `${name} must be at least 1ms, got ${written}`, [...at, name]);
  });

const HTTP1 = 'h2 is not offered without useHttp2: requests are sent over HTTP/1.1';

const checkProtocol: Check<UpstreamSpec> = (spec, at) => {
  const isIgnored = spec.sslConfig?.alpnProtocols?.includes('h2') && upstreamHttpVersion(spec) === 'http1';
  return reportTls(isIgnored && HTTP1, [...at, 'sslConfig', 'alpnProtocols'], { severity: 'warning' });
};

const TOO_FAST = 'a dnsRefreshRate below 1ms is ignored; the default is 5s';

/** DNS settings require a host with a DNS name; rates below the minimum are ignored. */
const checkDns: Check<UpstreamSpec> = ({ dnsRefreshRate, respectDnsTtl, static: hosts }, at) => {
  const rate = dnsRefreshRate !== undefined && parseDuration(dnsRefreshRate) >= 1;
  const isNeeded = rate || respectDnsTtl;
  const isUsed = hosts?.hosts?.some(({ addr = '' }) => isIP(addr) === 0);
  const path = [...at, rate ? 'dnsRefreshRate' : 'respectDnsTtl'];
  const isTooFast = dnsRefreshRate !== undefined && !rate;
  return [
    ...invalid(isNeeded && !isUsed && 'no host of the upstream has a DNS name', path),
    ...invalid(isTooFast && TOO_FAST, [...at, 'dnsRefreshRate'], { severity: 'warning' }),
  ];
};

import type { LoadBalancerConfig } from '../schema/upstream/load-balancer.ts';
import type { Failover } from '../schema/upstream/upstream-types.ts';
import { addressProblem } from './host-address.ts';
import { each, reporterOf, within, type Check } from './check.ts';
import { checkHostHealthCheck } from './check-health-checks.ts';
import { checkUpstreamSslConfig } from './check-ssl-config.ts';

const invalid = reporterOf('INVALID_UPSTREAM');
const invalidHost = reporterOf('INVALID_HOST');

/** Returns the problem of a ring that cannot be built. */
export const checkLoadBalancer: Check<LoadBalancerConfig> = ({ ringHash }, at) => {
  const { minimumRingSize = 1024, maximumRingSize = 8_388_608 } = ringHash?.ringHashConfig ?? {};
  const message = `minimumRingSize ${minimumRingSize} is larger than maximumRingSize ${maximumRingSize}`;
  return invalid(minimumRingSize > maximumRingSize && message, [...at, 'ringHash', 'ringHashConfig']);
};

type Locality = NonNullable<Failover['prioritizedLocalities']>[number];
type LocalityEndpoints = NonNullable<Locality['localityEndpoints']>[number];
type FailoverEndpoint = NonNullable<LocalityEndpoints['lbEndpoints']>[number];

/** Returns the endpoints of a failover without an address or port. */
export const checkFailover: Check<Failover> = ({ prioritizedLocalities = [], policy }, at) => [
  ...invalid(policy?.overprovisioningFactor === 0 && 'overprovisioningFactor must be greater than 0', [
    ...at,
    'policy',
  ]),
  ...each(prioritizedLocalities, [...at, 'prioritizedLocalities'], ({ localityEndpoints = [] }, priority) =>
    each(localityEndpoints, [...priority, 'localityEndpoints'], ({ lbEndpoints = [] }, locality) =>
      each(lbEndpoints, [...locality, 'lbEndpoints'], checkEndpoint),
    ),
  ),
];

const checkEndpoint: Check<FailoverEndpoint> = ({ address, port, healthCheckConfig, upstreamSslConfig }, at) => [
  ...within(upstreamSslConfig, [...at, 'upstreamSslConfig'], checkUpstreamSslConfig),
  ...within(healthCheckConfig, [...at, 'healthCheckConfig'], checkHostHealthCheck),
  ...invalidHost(!address && 'the endpoint has no address', at),
  ...invalidHost(!port && 'the endpoint has no port', at),
  ...invalidHost(address && addressProblem(address), [...at, 'address']),
];

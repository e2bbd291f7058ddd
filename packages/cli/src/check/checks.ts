import type { Check } from './contract.ts';
import { deployments, pods } from './components.ts';
import { proxies } from './running-proxy.ts';

/** Only shown when there are some. */
export const GRAPHQL_APIS: Check = { name: 'GraphQLApis', excludedBy: 'graphqlapis', kind: 'GraphQLApi' };

/** Documents that are not resources, and kinds without their own check. Shown only if they have problems. */
export const DOCUMENTS: Check = { name: 'Documents', excludedBy: 'documents' };

/** Every check in the order in which `check` runs them. */
export const CHECKS: readonly Check[] = [
  deployments,
  pods,
  { name: 'Upstreams', excludedBy: 'upstreams', kind: 'Upstream' },
  { name: 'UpstreamGroups', excludedBy: 'upstreamgroup', kind: 'UpstreamGroup' },
  { name: 'AuthConfigs', excludedBy: 'auth-configs', kind: 'AuthConfig' },
  { name: 'RateLimitConfigs', excludedBy: 'rate-limit-configs', kind: 'RateLimitConfig' },
  { name: 'VirtualHostOptions', excludedBy: 'virtual-host-options', kind: 'VirtualHostOption' },
  { name: 'RouteOptions', excludedBy: 'route-options', kind: 'RouteOption' },
  { name: 'Secrets', excludedBy: 'secrets', kind: 'Secret' },
  { name: 'VirtualServices', excludedBy: 'virtual-services', kind: 'VirtualService' },
  { name: 'Gateways', excludedBy: 'gateways', kind: 'Gateway' },
  proxies,
  GRAPHQL_APIS,
  DOCUMENTS,
];

/** The values of `--exclude`: the checks, and those that need a cluster and never run without one. */
export const EXCLUDABLE: readonly string[] = [
  ...CHECKS.map(({ excludedBy }) => excludedBy),
  'xds-metrics',
  'kube-gateway-classes',
  'kube-gateways',
  'kube-http-routes',
];

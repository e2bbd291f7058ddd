import type { Check } from './check.ts';
import { deployments, pods } from './components.ts';
import { proxies } from './proxies.ts';
import {
  authConfigs,
  gateways,
  rateLimitConfigs,
  routeOptions,
  secrets,
  upstreamGroups,
  upstreams,
  virtualHostOptions,
} from './statuses.ts';
import { virtualServices } from './virtual-services.ts';

/** Every check, in the order in which `check` runs them. */
export const CHECKS: readonly Check[] = [
  deployments,
  pods,
  upstreams,
  upstreamGroups,
  authConfigs,
  rateLimitConfigs,
  virtualHostOptions,
  routeOptions,
  secrets,
  virtualServices,
  gateways,
  proxies,
];

/** Documents that became no resource at all. Only shown when there are some. */
export const documents: Check = {
  name: 'Documents',
  excludedBy: 'documents',
  run: ({ unreadable }) => [unreadable],
};

/** What `--exclude` takes: the checks, and those that need a cluster, which are never run without one. */
export const EXCLUDABLE: readonly string[] = [
  ...CHECKS.map(({ excludedBy }) => excludedBy),
  'xds-metrics',
  'kube-gateway-classes',
  'kube-gateways',
  'kube-http-routes',
];

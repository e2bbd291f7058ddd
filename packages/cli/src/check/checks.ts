import type { Check, CheckInput } from './check.ts';
import { deployments, pods } from './components.ts';
import { proxies } from './proxies.ts';
import {
  authConfigs,
  gateways,
  graphqlApis,
  rateLimitConfigs,
  routeOptions,
  secrets,
  upstreamGroups,
  upstreams,
  virtualHostOptions,
} from './statuses.ts';
import { virtualServices } from './virtual-services.ts';

/** Every check that is always run, in the order in which `check` runs them. */
const CHECKS: readonly Check[] = [
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
const documents: Check = {
  name: 'Documents',
  excludedBy: 'documents',
  run: ({ unreadable }) => [unreadable],
};

/** Those of all kinds and of the kinds that there are, without those that are excluded. */
export function checksOf({ objects, unreadable }: CheckInput, excluded: readonly string[]): readonly Check[] {
  const hasApis = objects.some(({ kind }) => kind === 'GraphQLApi');
  const checks = [...CHECKS, ...(hasApis ? [graphqlApis] : [])];
  const chosen = checks.filter(({ excludedBy }) => !excluded.includes(excludedBy));
  return unreadable ? [...chosen, documents] : chosen;
}

/** Those that look at resources, which need no running gateway. */
export const RESOURCE_CHECKS: readonly Check[] = [...CHECKS, graphqlApis].filter(({ kind }) => kind !== undefined);

/** What `--exclude` takes: the checks, and those that need a cluster, which are never run without one. */
export const EXCLUDABLE: readonly string[] = [
  ...[...CHECKS, graphqlApis].map(({ excludedBy }) => excludedBy),
  'xds-metrics',
  'kube-gateway-classes',
  'kube-gateways',
  'kube-http-routes',
];

import type { Kind, Problem } from '@edge-gateway/core';
import type { ClusterClient } from '@edge-gateway/kubernetes';
import { deploymentProblems, listDeployments, podProblems, replicasOf } from '../cluster/workloads.ts';
import type { Connection } from '../gateway/connection.ts';
import { syncProblems } from '../gateway/proxy-list.ts';
import { authServerProblems, flagServersOf, type AuthServer } from './auth-servers.ts';
import { hostProblems } from './upstream-health.ts';
import { isListener, isReady, proxyCertificateProblems, proxyProblems, type RunningComponent } from './components.ts';

/** The cluster of a gateway. */
export interface CheckedCluster {
  readonly client: ClusterClient;
  readonly namespace: string;
  /** Returns the connection to a proxy. */
  connectionTo(proxy: string): Connection;
}

/** What the checks of a running gateway look at. */
export interface CheckInput {
  /** The problems of the configuration that some check prints. */
  readonly printed: readonly Problem[];
  /** `undefined` if the gateway does not list its components. */
  readonly components: readonly RunningComponent[] | undefined;
  readonly connection: Connection;
  readonly authServers: readonly AuthServer[];
  /** The cluster of the gateway; `undefined` if it does not run in one. */
  readonly cluster?: CheckedCluster;
  readonly readOnly: boolean;
  readonly podSelector: string;
  /** The names given with `--exclude`. */
  readonly exclude: readonly string[];
  /** Adds a line that is not an error: a warning, or what was skipped. */
  note(message: string): void;
}

/** A problem that a check found. */
export interface Finding {
  readonly line: string;
  /** A warning is a problem, but not an error. */
  readonly isWarning: boolean;
}

/** One line `Checking <name>... OK`. */
export interface Check {
  readonly name: string;
  /** What it checks outside of a cluster. Default: `name`. */
  readonly nameOutsideCluster?: string;
  /** Its name for `--exclude`. */
  readonly excludedBy: string;
  /** The kind of the resources that it checks. */
  readonly kind?: Kind;
  /**
   * Checks a running gateway. Without it, the problems of the configuration are all.
   *
   * @param configured The problems of the configuration that belong to this check.
   */
  run?(input: CheckInput, configured: readonly Finding[]): Promise<readonly Finding[]>;
}

/** Only shown if there are some. */
export const GRAPHQL_APIS: Check = { name: 'GraphQLApis', excludedBy: 'graphqlapis', kind: 'GraphQLApi' };

/** Documents that are not resources, and kinds without their own check. Shown only if they have problems. */
export const DOCUMENTS: Check = { name: 'Documents', excludedBy: 'documents' };

/** Every check in the order in which `check` runs them. */
export const CHECKS: readonly Check[] = [
  {
    name: 'Deployments',
    nameOutsideCluster: 'Components',
    excludedBy: 'deployments',
    run: async (input) => errors(await deploymentsOf(input)),
  },
  {
    name: 'Pods',
    nameOutsideCluster: 'Listeners',
    excludedBy: 'pods',
    run: async (input) => errors(await podsOf(input)),
  },
  {
    name: 'Upstreams',
    excludedBy: 'upstreams',
    kind: 'Upstream',
    run: async (input, configured) => [...configured, ...errors(await hostProblems(input))],
  },
  { name: 'UpstreamGroups', excludedBy: 'upstreamgroup', kind: 'UpstreamGroup' },
  { name: 'AuthConfigs', excludedBy: 'auth-configs', kind: 'AuthConfig', run: checkAuthConfigs },
  { name: 'RateLimitConfigs', excludedBy: 'rate-limit-configs', kind: 'RateLimitConfig' },
  { name: 'VirtualHostOptions', excludedBy: 'virtual-host-options', kind: 'VirtualHostOption' },
  { name: 'RouteOptions', excludedBy: 'route-options', kind: 'RouteOption' },
  { name: 'ListenerOptions', excludedBy: 'listener-options', kind: 'ListenerOption' },
  { name: 'HttpListenerOptions', excludedBy: 'http-listener-options', kind: 'HttpListenerOption' },
  { name: 'Secrets', excludedBy: 'secrets', kind: 'Secret' },
  { name: 'VirtualServices', excludedBy: 'virtual-services', kind: 'VirtualService' },
  { name: 'Gateways', excludedBy: 'gateways', kind: 'Gateway' },
  { name: 'Proxies', excludedBy: 'proxies', kind: 'Proxy', run: checkProxies },
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

const warnings = (lines: readonly string[]): Finding[] =>
  lines.map((line) => ({ line: `${line}  [warning]`, isWarning: true }));

const errors = (lines: readonly string[]): Finding[] => lines.map((line) => ({ line, isWarning: false }));

const NO_COMPONENTS =
  'Warning: the gateway does not list its components (GET /components); Components and Listeners were not checked';

async function deploymentsOf({ components, exclude, cluster, note }: CheckInput): Promise<string[]> {
  if (cluster) return deploymentProblems(cluster.client, cluster.namespace);
  if (components === undefined) {
    note(NO_COMPONENTS);
    return [];
  }
  const parts = components.filter((one) => !isListener(one));
  if (parts.length === 0) return ['No running control plane or proxy was found'];
  return parts
    .filter((one) => !isReady(one))
    .map(({ name, kind, state, reason, waitsFor }) => {
      const isLeftToPods = waitsFor.length > 0 && !exclude.includes('pods');
      const why = isLeftToPods ? `some listeners are not served: ${waitsFor.join(', ')}` : reason;
      return `Component ${name} (${kind}) is ${state || 'unknown'}${why && `: ${why}`}`;
    });
}

/** Checks what runs inside those parts: every listener that should be open. */
async function podsOf({ components, podSelector, printed, cluster, note }: CheckInput): Promise<string[]> {
  if (cluster) {
    const problems = await podProblems(cluster.client, cluster.namespace, podSelector);
    if (problems === undefined) note(`Warning: The provided label selector (${podSelector}) applies to no pods`);
    return problems ?? [];
  }
  if (components === undefined) return [];
  const all = podSelector === 'gw';
  const chosen = components.filter(({ name, kind }) => all || kind === podSelector || name.includes(podSelector));
  if (chosen.length === 0) note(`Warning: no component matches --pod-selector ${podSelector}`);
  return chosen.filter((one) => !isReady(one) && (isListener(one) || !all)).map((one) => listenerLine(one, printed));
}

/** A listener that is not served; the reason is left to the check that prints the problem of its resource. */
function listenerLine({ name, kind, state, reason, resources }: RunningComponent, printed: readonly Problem[]): string {
  const reported = resources.filter((ref) =>
    printed.some((one) => one.kind === ref.kind && one.namespace === ref.namespace && one.name === ref.name),
  );
  const shown = kind === 'listener' && state === 'failed' ? 'not served' : state || 'unknown';
  const why = reported.map((ref) => `${ref.kind} ${ref.namespace}/${ref.name}`).join(', ');
  return `Listener ${name} (${kind}) is ${shown}${why ? ` because of ${why}` : reason && `: ${reason}`}`;
}

/** Tries the servers of AuthConfigs from this machine; those of a cluster may be reachable in it only. */
async function checkAuthConfigs(
  { authServers, cluster, readOnly, note }: CheckInput,
  configured: readonly Finding[],
): Promise<readonly Finding[]> {
  if (authServers.length === 0) return configured;
  if (cluster) note('The servers of AuthConfigs were not tried, because they may be reachable in the cluster only');
  if (cluster || readOnly) return configured;
  return [...configured, ...warnings(await authServerProblems(authServers))];
}

/** Checks the Proxy resources, whether every proxy serves the newest version, and whether the running one is ready and accepts updates. */
async function checkProxies(input: CheckInput, configured: readonly Finding[]): Promise<readonly Finding[]> {
  const { components = [], connection, cluster, readOnly, exclude, note } = input;
  if (exclude.includes('deployments')) {
    note('Skipping proxies because deployments were excluded');
    return [];
  }
  if (readOnly) note('Warning: the proxy was not queried because of --read-only');
  const isReported = components.some((one) => one.kind === 'proxy' && !isReady(one));
  const found = [...configured, ...errors(await syncProblems(connection))];
  if (readOnly || isReported) return found;
  if (cluster) return [...found, ...(await clusterProxyProblems(cluster, note))];
  const silent = await authServerProblems(await flagServersOf(connection));
  return [...found, ...(await findingsOf(connection)), ...warnings(silent)];
}

/** Returns what is wrong with a running proxy, and with the certificates of its flags. */
async function findingsOf(connection: Connection): Promise<Finding[]> {
  return [...errors(await proxyProblems(connection)), ...warnings(await proxyCertificateProblems(connection))];
}

/** Checks a proxy of each Deployment of proxies. */
async function clusterProxyProblems(
  { client, namespace, connectionTo }: CheckedCluster,
  note: CheckInput['note'],
): Promise<Finding[]> {
  const deployments = await listDeployments(client, namespace, 'app=gw,gateway-proxy-id');
  const problems: Finding[] = [];
  for (const deployment of deployments) {
    const { name } = deployment.metadata;
    if (replicasOf(deployment) === 0) note(`Warning: ${namespace}:${name} has zero replicas`);
    else problems.push(...(await findingsOf(connectionTo(name))));
  }
  return problems;
}

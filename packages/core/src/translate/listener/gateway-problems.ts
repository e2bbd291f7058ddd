import type { FieldProblem } from '../../resource/problem.ts';
import type { HttpConnectionManagerSettings } from '../../schema/listener/http-connection-manager.ts';
import type { GatewaySpec } from '../../schema/kind/gateway.ts';
import type { HttpListenerOptions } from '../../schema/listener/gateway-options.ts';
import { gatewayNamespace } from '../../resource/gateway-namespace.ts';
import { keyOf, type ResourceRef } from '../../resource/resource.ts';
import type { UsedGateway } from './gateways.ts';
import { faultOf, missingFault } from '../reference/missing.ts';
import { missingRateLimitServer } from '../reference/rate-limit-server.ts';
import { dotted } from '../names.ts';
import type { TranslationInput } from '../input.ts';

/** Returns warnings of a gateway besides those of its virtual services. */
export function gatewayWarnings({ spec, ref }: UsedGateway, input: TranslationInput): readonly FieldProblem[] {
  const warnings: FieldProblem[] = [];
  const warnUnless = (upstream: ResourceRef, text: string): void => {
    const entry = input.upstreams.get(keyOf('Upstream', upstream));
    if (entry?.fault) warnings.push(entry.fault);
    else if (!entry) warnings.push(missingFault(text, 'Upstream', upstream, input));
  };
  const provider = providerOf(spec.httpGateway?.options?.httpConnectionManagerSettings);
  const { collectorUpstreamRef: collector, clusterName } = provider ?? {};
  if (collector?.name) {
    const upstream = { name: collector.name, namespace: collector.namespace || ref.namespace };
    warnUnless(upstream, `the collector Upstream ${dotted(upstream)} of the tracing provider not found`);
  } else if (clusterName) {
    warnUnless(refOf(clusterName), `the cluster ${clusterName} of the tracing provider not found`);
  } else if (provider) warnings.push(faultOf('the tracing provider has no collector: no spans are sent'));
  for (const cluster of logClusters(spec))
    warnUnless(refOf(cluster), `the cluster ${cluster} of the access log not found`);
  for (const server of processorsOf(spec.httpGateway?.options)) {
    const upstream = { name: server.name, namespace: server.namespace || gatewayNamespace() };
    const text = `the server Upstream ${dotted(upstream)} of external processing not found`;
    if (!input.upstreams.has(keyOf('Upstream', upstream)))
      warnings.push(missingFault(text, 'Upstream', upstream, input));
  }
  const { extauthzServerRef: auth } = spec.httpGateway?.options?.extauth ?? {};
  if (auth?.name) {
    const upstream = { name: auth.name, namespace: auth.namespace || gatewayNamespace() };
    warnUnless(upstream, `the auth server Upstream ${dotted(upstream)} not found`);
  }
  const server = spec.httpGateway?.options?.ratelimitServer;
  return [...warnings, ...missingRateLimitServer(server, input, SERVER)];
}

const SERVER = ['spec', 'httpGateway', 'options', 'ratelimitServer'] as const;

/** Returns the Upstream of a cluster. Names of resources contain no underscore. */
function refOf(cluster: string): ResourceRef {
  const cut = cluster.lastIndexOf('_');
  return { name: cluster.slice(0, Math.max(cut, 0)), namespace: cluster.slice(cut + 1) };
}

const DEFAULT_LOG_CLUSTER = 'access_log_cluster';

/** Returns the clusters of the access log services of a gateway, each once. */
function logClusters({ options }: GatewaySpec): ReadonlySet<string> {
  const logs = [
    ...(options?.accessLoggingService?.accessLog ?? []),
    ...(options?.listenerAccessLoggingService?.accessLog ?? []),
  ];
  return new Set(
    logs.flatMap(({ grpcService }) => (grpcService ? [grpcService.staticClusterName || DEFAULT_LOG_CLUSTER] : [])),
  );
}

function processorsOf(options: HttpListenerOptions = {}) {
  const blocks = [options.extProc, options.extProcEarly, options.extProcLate];
  return blocks.flatMap((block) => {
    const { name, namespace } = block?.grpcService?.extProcServerRef ?? {};
    return name ? [{ name, namespace }] : [];
  });
}

function providerOf(settings: HttpConnectionManagerSettings | undefined) {
  const tracing = settings?.tracing;
  return tracing?.zipkinConfig ?? tracing?.datadogConfig ?? tracing?.openTelemetryConfig;
}

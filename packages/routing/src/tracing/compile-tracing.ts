import { clusterName, type Context, type Listener } from '@edge-gateway/core';
import type { ListenerTracing } from '@edge-gateway/core/schema';
import type { CollectorParts, Collectors } from '../collect/collectors.ts';
import { postToCluster, type CollectorPost } from '../collect/collector-post.ts';
import { createGrpcChannel } from '../grpc/grpc-channel.ts';
import { B3 } from './context/b3.ts';
import { DATADOG } from './context/datadog-headers.ts';
import { createPropagation } from './context/propagation.ts';
import type { ContextFormat } from './context/trace-context.ts';
import { W3C } from './context/w3c.ts';
import { compileTags } from './custom-tags.ts';
import { datadogSender } from './export/datadog-spans.ts';
import { otlpSender } from './export/otlp-spans.ts';
import { createSpanCollector, type SpanSender } from './export/span-collector.ts';
import { zipkinSender } from './export/zipkin-spans.ts';
import { compileSampling } from './sampling.ts';
import type { Tracer } from './tracer.ts';

interface Provider {
  /** Identifies the collector: listeners with the same one share it. */
  readonly key: string;
  readonly cluster: string;
  readonly formats: readonly ContextFormat[];
  readonly longTraceIds: boolean;
  readonly sharesSpans: boolean;
  readonly maxQueued?: number | undefined;
  sender(parts: CollectorParts): SpanSender;
}

const ZIPKIN_PATH = '/api/v2/spans';

/** Compiles the tracing of a listener; `undefined` without a provider. */
export function compileTracing(listener: Listener, context: Context, collectors: Collectors): Tracer | undefined {
  const settings = listener.httpOptions.httpConnectionManagerSettings;
  const tracing = settings?.tracing;
  const provider = tracing && providerOf(tracing, listener.gateway);
  if (!provider) return undefined;
  const { cluster: name, maxQueued } = provider;
  const { packTraceReason, useRequestIdForTraceSampling } = settings.uuidRequestIdConfig ?? {};
  return {
    collector: collectors.get(provider.key, (parts) =>
      createSpanCollector(parts, { name, sender: provider.sender(parts), ...(maxQueued && { maxQueued }) }),
    ),
    propagation: createPropagation(provider.formats),
    sampling: compileSampling(tracing.tracePercentages),
    tags: compileTags(tracing, context),
    defaultName: 'ingress',
    verbose: tracing.verbose === true,
    spawnsUpstreamSpans: tracing.spawnUpstreamSpan === true,
    readsEndpoint: tracing.metadataForTags?.some(({ kind }) => kind === 'ENDPOINT') === true,
    longTraceIds: provider.longTraceIds,
    sharesSpans: provider.sharesSpans,
    packsReason: packTraceReason !== false,
    samplesByRequestId: useRequestIdForTraceSampling !== false,
  };
}

function providerOf(tracing: ListenerTracing, gateway: Listener['gateway']): Provider | undefined {
  const { openTelemetryConfig, zipkinConfig, datadogConfig } = tracing;
  if (openTelemetryConfig) return openTelemetry(openTelemetryConfig, gateway);
  if (zipkinConfig) return zipkin(zipkinConfig, gateway);
  return datadogConfig && datadog(datadogConfig, gateway);
}

interface Reference {
  readonly collectorUpstreamRef?: { readonly name?: string; readonly namespace?: string };
  readonly clusterName?: string;
}

function clusterOf({ collectorUpstreamRef: ref, clusterName: written }: Reference, { namespace }: Listener['gateway']) {
  if (written) return written;
  return clusterName({ name: ref?.name ?? '', namespace: ref?.namespace || namespace });
}

function openTelemetry(
  written: NonNullable<ListenerTracing['openTelemetryConfig']>,
  gateway: Listener['gateway'],
): Provider {
  const cluster = clusterOf(written, gateway);
  const service = written.serviceName || gateway.name;
  return {
    key: `otlp ${JSON.stringify([cluster, service, written])}`,
    cluster,
    formats: [W3C],
    longTraceIds: true,
    sharesSpans: false,
    maxQueued: written.maxCacheSize,
    sender: ({ upstreams, context: { secrets } }) => {
      const authority = written.grpcService?.authority || cluster;
      return otlpSender(createGrpcChannel({ find: () => upstreams.get(cluster), secrets, authority }), service);
    },
  };
}

function zipkin(written: NonNullable<ListenerTracing['zipkinConfig']>, gateway: Listener['gateway']): Provider {
  const cluster = clusterOf(written, gateway);
  return {
    key: `zipkin ${JSON.stringify([cluster, gateway.name, written])}`,
    cluster,
    formats: [B3],
    longTraceIds: written.traceId128bit === true,
    sharesSpans: written.sharedSpanContext !== false,
    sender: (parts) =>
      zipkinSender({
        path: written.collectorEndpoint || ZIPKIN_PATH,
        version: written.collectorEndpointVersion ?? 'HTTP_JSON',
        serviceName: gateway.name,
        host: cluster,
        post: poster(parts, cluster),
      }),
  };
}

function datadog(written: NonNullable<ListenerTracing['datadogConfig']>, gateway: Listener['gateway']): Provider {
  const cluster = clusterOf(written, gateway);
  const serviceName = written.serviceName || gateway.name;
  const host = written.collectorHostname || cluster;
  return {
    key: `datadog ${JSON.stringify([cluster, serviceName, written])}`,
    cluster,
    formats: [DATADOG, W3C],
    longTraceIds: true,
    sharesSpans: false,
    sender: (parts) => datadogSender({ serviceName, host, post: poster(parts, cluster) }),
  };
}

const poster =
  ({ upstreams, context }: CollectorParts, cluster: string) =>
  (post: CollectorPost): Promise<void> =>
    postToCluster({ upstreams, call: context.callUpstream }, cluster, post);

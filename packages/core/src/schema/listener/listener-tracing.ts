import * as f from '../field.ts';
import { TracePercentages } from '../route/small-options.ts';

const collector = {
  collectorUpstreamRef: f.ref('Upstream of the collector.'),
  clusterName: f.text('Cluster of the collector.'),
} as const;
const ONE_COLLECTOR = f.oneOf(['collectorUpstreamRef', 'clusterName']);

const zipkin = f.block(ONE_COLLECTOR, {
  ...collector,
  collectorEndpoint: f.text('Path of the API.', { default: '/api/v2/spans' }),
  collectorEndpointVersion: f.choice(['HTTP_JSON', 'HTTP_PROTO'], 'Form of the spans. Default: `HTTP_JSON`.'),
  traceId128bit: f.flag('Creates trace ids of 128 bits instead of 64.'),
  sharedSpanContext: f.bool('The span of a request has the id that the caller sent by B3.', { default: true }),
});
const datadog = f.block(ONE_COLLECTOR, {
  ...collector,
  serviceName: f.text('Name of this service. Default: the name of the Gateway.'),
  collectorHostname: f.text('`Host` of the calls. Default: the cluster name.'),
  remoteConfig: f.anything(
    'Polls the agent for settings. They would replace those of the resources unseen: change the percentages in the resource instead.',
    f.unsupported,
  ),
});
const openTelemetry = f.block(ONE_COLLECTOR, {
  ...collector,
  serviceName: f.text('Name of this service. Default: the name of the Gateway.'),
  maxCacheSize: f.count('Maximum number of queued spans; more are dropped. 0 is the default.', { default: 2048 }),
  grpcService: f.group('Connection to the collector, over gRPC.', {
    authority: f.text('`:authority` of the calls. Default: the cluster name.'),
  }),
});

const fields = f.block(f.oneOf(['zipkinConfig', 'datadogConfig', 'openTelemetryConfig', 'openCensusConfig']), {
  requestHeadersForTags: f.texts('Request headers to add as tags. Values of credentials are redacted.'),
  verbose: f.flag('Adds events and a span for each policy.'),
  tracePercentages: f.of(TracePercentages, 'Shares of requests to trace.'),
  environmentVariablesForTags: f.groups('Environment variables to add as tags.', {
    tag: f.text('Name of the tag.'),
    name: f.text('Environment variable.'),
    defaultValue: f.text('Value if it is not set.'),
  }),
  literalsForTags: f.groups('Fixed tags.', { tag: f.text('Name of the tag.'), value: f.text('Its value.') }),
  metadataForTags: f.list(
    f.block({
      tag: f.text('Name of the tag.'),
      kind: f.choice(['REQUEST', 'ENDPOINT'], 'Whose metadata. Default: `REQUEST`.'),
      value: f.group('Location of the value.', {
        namespace: f.text('Namespace. Default: the claims of the token.'),
        key: f.text('Key.'),
        nestedFieldDelimiter: f.text('Separator of the parts of the key.', { default: '.' }),
      }),
      defaultValue: f.text('Value if there is none.'),
    }),
    'Metadata to add as tags.',
  ),
  spawnUpstreamSpan: f.flag('Adds a span for each attempt to call the upstream.'),
  zipkinConfig: f.of(zipkin, 'Sends spans to Zipkin.'),
  datadogConfig: f.of(datadog, 'Sends spans to Datadog.'),
  openTelemetryConfig: f.of(openTelemetry, 'Sends spans to an OpenTelemetry collector.'),
  openCensusConfig: f.anything('Not supported by any data plane.'),
});
/** Tracing of a listener. */
export interface ListenerTracing extends f.Static<typeof fields> {}
export const ListenerTracing = f.named<ListenerTracing>('ListenerTracing', fields);

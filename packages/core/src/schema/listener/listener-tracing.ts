import { anything, block, bool, enumeration, int, list, named, notYet, of, ref, text, type Static } from '../field.ts';
import { TracePercentages } from '../route/small-options.ts';

const collector = {
  collectorUpstreamRef: ref('Upstream of the collector.'),
  clusterName: text('Cluster of the collector.'),
} as const;
const ONE_COLLECTOR = { oneOf: [{ members: ['collectorUpstreamRef', 'clusterName'] }] } as const;

const zipkin = block(
  {
    ...collector,
    collectorEndpoint: text('Path to send spans to.'),
    collectorEndpointVersion: enumeration(['HTTP_JSON', 'HTTP_PROTO'], 'Form of the spans.', { default: 'HTTP_JSON' }),
    traceId128bit: bool('Trace ids of 128 bits.', { default: false }),
    sharedSpanContext: bool('Client and server share a span.', { default: true }),
  },
  ONE_COLLECTOR,
);
const datadog = block(
  {
    ...collector,
    serviceName: text('Name of this service.'),
    collectorHostname: text('Host of the collector.'),
    remoteConfig: anything('Reads settings from the collector.'),
  },
  ONE_COLLECTOR,
);
const openTelemetry = block(
  {
    ...collector,
    serviceName: text('Name of this service.'),
    maxCacheSize: int('Maximum number of buffered spans.', { minimum: 0 }),
    grpcService: of(
      block({ authority: text('`:authority` of the calls. Default: the cluster name.') }),
      'Connection to the collector, over gRPC.',
    ),
  },
  ONE_COLLECTOR,
);

const fields = block(
  {
    requestHeadersForTags: list(text(), 'Request headers to add as tags.'),
    verbose: bool('Adds events to spans.', { default: false }),
    tracePercentages: of(TracePercentages, 'Shares of requests to trace.'),
    environmentVariablesForTags: list(
      block({
        tag: text('Name of the tag.'),
        name: text('Environment variable.'),
        defaultValue: text('Value if it is not set.'),
      }),
      'Environment variables to add as tags.',
    ),
    literalsForTags: list(block({ tag: text('Name of the tag.'), value: text('Its value.') }), 'Fixed tags.'),
    metadataForTags: list(
      block({
        tag: text('Name of the tag.'),
        kind: enumeration(['REQUEST', 'ENDPOINT'], 'Whose metadata.', { default: 'REQUEST' }),
        value: of(
          block({
            namespace: text('Namespace. Default: the claims of the token.'),
            key: text('Key.'),
            nestedFieldDelimiter: text('Separator of the parts of the key.', { default: '.' }),
          }),
          'Location of the value.',
        ),
        defaultValue: text('Value if there is none.'),
      }),
      'Metadata to add as tags.',
      notYet,
    ),
    spawnUpstreamSpan: bool('Creates a separate span for the upstream call.', { default: false }),
    zipkinConfig: of(zipkin, 'Sends spans to Zipkin.'),
    datadogConfig: of(datadog, 'Sends spans to Datadog.'),
    openTelemetryConfig: of(openTelemetry, 'Sends spans to an OpenTelemetry collector.'),
    openCensusConfig: anything('Not supported by any data plane.'),
  },
  { oneOf: [{ members: ['zipkinConfig', 'datadogConfig', 'openTelemetryConfig', 'openCensusConfig'] }] },
);
/** Tracing of a listener. */
export interface ListenerTracing extends Static<typeof fields> {}
export const ListenerTracing = named<ListenerTracing>('ListenerTracing', fields);

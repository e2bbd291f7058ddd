import { anything, block, bool, enumeration, int, list, named, notYet, of, ref, text, type Static } from './field.ts';
import { TracePercentages } from './small-options.ts';

const collector = {
  collectorUpstreamRef: ref('Upstream of the collector.'),
  clusterName: text('Cluster of the collector.'),
} as const;
const ONE_COLLECTOR = { oneOf: [{ members: ['collectorUpstreamRef', 'clusterName'] }] } as const;

const zipkin = block(
  {
    ...collector,
    collectorEndpoint: text('Path that spans are sent to.'),
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
    remoteConfig: anything('Whether settings are taken from the collector.'),
  },
  ONE_COLLECTOR,
);
const openTelemetry = block(
  {
    ...collector,
    serviceName: text('Name of this service.'),
    maxCacheSize: int('Spans kept until they are sent.', { minimum: 0 }),
    grpcService: of(
      block({ authority: text('`:authority` of the calls. Default: the cluster name.') }),
      'How the collector is called.',
    ),
  },
  ONE_COLLECTOR,
);

const fields = block(
  {
    requestHeadersForTags: list(text(), 'Request headers that become tags.'),
    verbose: bool('Adds events to spans.', { default: false }),
    tracePercentages: of(TracePercentages, 'Shares of requests that are traced.'),
    environmentVariablesForTags: list(
      block({
        tag: text('Name of the tag.'),
        name: text('Environment variable.'),
        defaultValue: text('Value when it is not set.'),
      }),
      'Environment variables that become tags.',
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
            nestedFieldDelimiter: text('What separates steps in the key.', { default: '.' }),
          }),
          'Where the value is found.',
        ),
        defaultValue: text('Value when there is none.'),
      }),
      'Metadata that becomes tags.',
      notYet,
    ),
    spawnUpstreamSpan: bool('Makes a span of its own for the upstream call.', { default: false }),
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

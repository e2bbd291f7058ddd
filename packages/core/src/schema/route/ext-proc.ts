import {
  anything,
  block,
  bool,
  duration,
  enumeration,
  list,
  map,
  named,
  of,
  ref,
  text,
  type Static,
} from '../field.ts';

const HEADER_MODES = ['DEFAULT', 'SEND', 'SKIP'] as const;
const BODY_MODES = ['NONE', 'STREAMED', 'BUFFERED', 'BUFFERED_PARTIAL'] as const;

const stage = block({
  stage: enumeration(
    [
      'FaultStage',
      'CorsStage',
      'WafStage',
      'AuthNStage',
      'AuthZStage',
      'RateLimitStage',
      'AcceptedStage',
      'OutAuthStage',
      'RouteStage',
    ],
    'The stage.',
  ),
  predicate: enumeration(['During', 'Before', 'After'], 'Place within the stage.', { default: 'During' }),
});
const grpcService = block({
  extProcServerRef: ref('Upstream of the server.'),
  authority: text('`:authority` of the calls.'),
  retryPolicy: anything('Retries of the calls.'),
  timeout: duration('Timeout of a call.'),
  initialMetadata: list(block({ key: text('Metadata key.'), value: text('Its value.') }), 'Metadata to send.'),
});
const fields = block({
  grpcService: of(grpcService, 'The external processing server.'),
  filterStage: of(stage, 'The stage in which the server is called.'),
  failureModeAllow: bool('True allows requests if the server fails.', { default: false }),
  processingMode: of(
    block({
      requestHeaderMode: enumeration(HEADER_MODES, 'Request headers.', { default: 'DEFAULT' }),
      responseHeaderMode: enumeration(HEADER_MODES, 'Response headers.', { default: 'DEFAULT' }),
      requestBodyMode: enumeration(BODY_MODES, 'Request body.', { default: 'NONE' }),
      responseBodyMode: enumeration(BODY_MODES, 'Response body.', { default: 'NONE' }),
      requestTrailerMode: enumeration(HEADER_MODES, 'Request trailers.', { default: 'DEFAULT' }),
      responseTrailerMode: enumeration(HEADER_MODES, 'Response trailers.', { default: 'DEFAULT' }),
    }),
    'Parts of a message to send.',
  ),
  messageTimeout: duration('Timeout of one response, at most 1h.', { default: '200ms' }),
  maxMessageTimeout: duration('Maximum timeout that the server may request.', { default: '0s' }),
  statPrefix: text('Prefix of the statistics.'),
  mutationRules: anything('Which headers the server may change.'),
  disableClearRouteCache: bool('Keeps the route even if the server requests a new selection.', { default: false }),
  forwardRules: of(block({ allowedHeaders: anything('Headers to send.') }), 'What to send.'),
  allowModeOverride: bool('The server may change the processing mode.', { default: false }),
  metadataContextNamespaces: list(text(), 'Metadata namespaces to send.'),
  filterMetadata: map(anything(), 'Metadata of the calls.'),
  asyncMode: bool('Accepted without effect.', { default: false }),
  requestAttributes: list(text(), 'Accepted without effect.'),
  responseAttributes: list(text(), 'Accepted without effect.'),
});
/** A server that inspects and changes messages. */
export interface ExtProc extends Static<typeof fields> {}
export const ExtProc = named<ExtProc>('ExtProc', fields);

const route = block(
  {
    disabled: bool('True switches it off here.', { default: false }),
    overrides: anything('Overrides for this level.'),
  },
  { oneOf: [{ members: ['disabled', 'overrides'] }] },
);
/** External processing at one level. */
export interface ExtProcRoute extends Static<typeof route> {}
export const ExtProcRoute = named<ExtProcRoute>('ExtProcRoute', route);

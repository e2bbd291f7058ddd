import * as f from '../field.ts';
import { StringMatcher } from './matcher.ts';

const HEADER_MODES = ['DEFAULT', 'SEND', 'SKIP'] as const;
const BODY_MODES = ['NONE', 'STREAMED', 'BUFFERED', 'BUFFERED_PARTIAL'] as const;

const stage = f.block({
  stage: f.enumeration(
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
  predicate: f.choice(['During', 'Before', 'After'], 'Place within the stage.'),
});
const grpcService = f.block({
  extProcServerRef: f.ref('Upstream of the server. Default namespace: gw-system.'),
  authority: f.text('`:authority` of the calls.'),
  retryPolicy: f.group('Retries of calls that did not reach the server.', {
    numRetries: f.count('Retries after the first attempt.', { default: 0 }),
  }),
  timeout: f.duration('Timeout of a call.'),
  initialMetadata: f.groups('Metadata to send.', {
    key: f.text('Metadata key.'),
    value: f.text('Its value.', f.headerValue),
  }),
});
const rules = f.block({
  allowAllRouting: f.flag('Allows `host`, `:authority` and `:method`.'),
  allowEnvoy: f.flag('Allows headers that begin with `x-envoy-`.'),
  disallowSystem: f.flag('Rejects all pseudo-headers.'),
  disallowAll: f.flag('Rejects all headers that `allowExpression` does not match.'),
  allowExpression: f.regex('RE2 expression of names that are allowed besides.'),
  disallowExpression: f.regex('RE2 expression of names that are always rejected.'),
  disallowIsError: f.flag('A rejected change fails the request instead of being ignored.'),
});
/** Which headers a server may change. */
export interface MutationRulesOptions extends f.Static<typeof rules> {}
export const MutationRulesOptions = f.named<MutationRulesOptions>('MutationRules', rules);

const fields = f.block({
  grpcService: f.of(grpcService, 'The external processing server.'),
  filterStage: f.of(stage, 'The stage in which the server is called.'),
  failureModeAllow: f.flag('True allows requests if the server fails.'),
  processingMode: f.group('Parts of a message to send.', {
    requestHeaderMode: f.choice(HEADER_MODES, 'Request headers.'),
    responseHeaderMode: f.choice(HEADER_MODES, 'Response headers.'),
    requestBodyMode: f.choice(BODY_MODES, 'Request body.'),
    responseBodyMode: f.choice(BODY_MODES, 'Response body.'),
    requestTrailerMode: f.choice(
      HEADER_MODES,
      'Request trailers, if there are any and the listener forwards them. `DEFAULT`: skipped.',
    ),
    responseTrailerMode: f.choice(
      HEADER_MODES,
      'Response trailers, if there are any and listener and upstream forward them. `DEFAULT`: skipped.',
    ),
  }),
  messageTimeout: f.duration('Timeout of one response, at most 1h.', { default: '200ms' }),
  maxMessageTimeout: f.duration('Maximum timeout that the server may request.', { default: '0s' }),
  statPrefix: f.text('Prefix of the statistics.'),
  mutationRules: f.of(MutationRulesOptions, 'Which headers the server may change.'),
  disableClearRouteCache: f.flag('Keeps the route even if the server requests a new selection.'),
  forwardRules: f.group('What to send.', {
    allowedHeaders: f.group('Headers to send. Unset: all.', {
      patterns: f.list(StringMatcher, 'Names of the headers, in lower case.'),
    }),
  }),
  allowModeOverride: f.flag('The server may change the processing mode.'),
  metadataContextNamespaces: f.texts('Metadata namespaces to send.'),
  filterMetadata: f.map(f.anything(), 'Metadata of the calls.'),
  asyncMode: f.flag(
    'Continues without waiting for the server. The gateway always waits for each response.',
    f.unsupported,
  ),
  requestAttributes: f.texts('Attributes to send with requests. The server receives none.', f.unsupported),
  responseAttributes: f.texts('Attributes to send with responses. The server receives none.', f.unsupported),
});
/** A server that inspects and changes messages. */
export interface ExtProc extends f.Static<typeof fields> {}
export const ExtProc = f.named<ExtProc>('ExtProc', fields);

const route = f.block(f.exclusive, {
  disabled: f.flag('True switches it off here.'),
  overrides: f.of(ExtProc, 'Fields that replace those of the listener and the Settings.'),
});
/** External processing at one level. */
export interface ExtProcRoute extends f.Static<typeof route> {}
export const ExtProcRoute = f.named<ExtProcRoute>('ExtProcRoute', route);

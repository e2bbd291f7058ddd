import { anything, block, bool, duration, int, list, map, named, of, ref, text, type Static } from './field.ts';
import { SslParameters } from './ssl-config.ts';

const names = (description: string) => list(text(), description);
const connectionTimeout = duration('Longest time for a call.', { default: '5s' });
const tlsConfig = of(
  block({
    secretRef: ref('Secret with certificates.'),
    sslParams: of(SslParameters, 'TLS versions. Default: 1.2 to 1.3.'),
  }),
  'TLS towards the server.',
);

const grpc = block(
  {
    address: text('Address, `host:port`.'),
    connectionTimeout,
    tlsConfig,
    retryPolicy: of(
      block({
        numRetries: int('Retries.', { minimum: 0, default: 1 }),
        retryBackOff: of(
          block({
            baseInterval: duration('First wait.', { default: '1s' }),
            maxInterval: duration('Longest wait. Default: ten times the base.'),
          }),
          'Wait between attempts.',
        ),
      }),
      'Retries. Default: none.',
    ),
  },
  { required: ['address'] },
);
const http = block(
  {
    url: text('Address; a 200 lets the request pass.'),
    connectionTimeout,
    responseHeaderTimeout: duration('Longest wait for the head of the answer; `0s` is no limit.', { default: '0s' }),
    connectionPool: of(
      block({
        maxConns: int('Most connections.', { minimum: 0, default: 100 }),
        idleTimeout: duration('Longest time a connection is unused.', { default: '0s' }),
      }),
      'Connections.',
    ),
    tlsConfig,
    request: of(
      block({
        allowedHeaders: names('Request headers that are sent.'),
        headersToAdd: map(text(), 'Headers added.'),
        passThroughState: bool('Sends the state of earlier steps.', { default: false }),
        passThroughFilterMetadata: bool('Sends metadata.', { default: false }),
        passThroughBody: bool('Sends the body.', { default: false }),
      }),
      'The call.',
    ),
    response: of(
      block({
        allowedUpstreamHeaders: names(
          'Headers of the auth response to send to the upstream, appended to those of earlier steps. The client cannot set them.',
        ),
        allowedUpstreamHeadersToOverwrite: names(
          'Headers of the auth response to send to the upstream, replacing those of earlier steps. The client cannot set them.',
        ),
        allowedClientHeadersOnDenied: names('Headers of a refusal that the client gets.'),
        allowedClientHeadersOnSuccess: names('Headers of a pass that the client gets.'),
        readStateFromResponse: bool('Takes state from the answer.', { default: false }),
      }),
      'The answer.',
    ),
  },
  { required: ['url'] },
);
const fields = block(
  {
    config: anything('Settings handed to the server.'),
    failureModeAllow: bool(
      'Allows requests when the auth server fails. Failures caused by the client are always rejected.',
      {
        default: false,
      },
    ),
    grpc: of(grpc, 'Calls over gRPC.'),
    http: of(http, 'Calls over HTTP.'),
  },
  { oneOf: [{ members: ['grpc', 'http'] }] },
);
/** An own server decides. */
export interface PassThroughAuth extends Static<typeof fields> {}
export const PassThroughAuth = named<PassThroughAuth>('PassThroughAuth', fields);

import { anything, block, bool, duration, int, list, map, named, of, ref, text, type Static } from '../field.ts';
import { SslParameters } from '../listener/ssl-config.ts';

const names = (description: string) => list(text(), description);
const connectionTimeout = duration('Timeout of a call.', { default: '5s' });
const tlsConfig = of(
  block({
    secretRef: ref('Secret with certificates.'),
    sslParams: of(SslParameters, 'TLS versions. Default: 1.2 to 1.3.'),
  }),
  'TLS to the server.',
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
            baseInterval: duration('Base interval.', { default: '1s' }),
            maxInterval: duration('Maximum interval. Default: ten times the base.'),
          }),
          'Backoff between attempts.',
        ),
      }),
      'Retries. Default: none.',
    ),
  },
  { required: ['address'] },
);
const http = block(
  {
    url: text('URL of the server; status 200 allows the request.'),
    connectionTimeout,
    responseHeaderTimeout: duration('Timeout for the response head; `0s` is no limit.', { default: '0s' }),
    connectionPool: of(
      block({
        maxConns: int('Maximum number of connections.', { minimum: 0, default: 100 }),
        idleTimeout: duration('Idle timeout of a connection.', { default: '0s' }),
      }),
      'Connections.',
    ),
    tlsConfig,
    request: of(
      block({
        allowedHeaders: names('Request headers to send.'),
        headersToAdd: map(text(), 'Headers to add.'),
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
        allowedClientHeadersOnDenied: names('Headers of a denial to send to the client.'),
        allowedClientHeadersOnSuccess: names('Headers of an allow response to send to the client.'),
        readStateFromResponse: bool('Reads the state from the response.', { default: false }),
      }),
      'The response.',
    ),
  },
  { required: ['url'] },
);
const fields = block(
  {
    config: anything('Settings to send to the server.'),
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
/** Your own auth server decides. */
export interface PassThroughAuth extends Static<typeof fields> {}
export const PassThroughAuth = named<PassThroughAuth>('PassThroughAuth', fields);

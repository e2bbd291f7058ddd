import { DEFAULTS } from '../defaults.ts';
import * as f from '../field.ts';
import { SslParameters } from '../listener/ssl-config.ts';

const connectionTimeout = f.duration('Timeout of a call.', { default: DEFAULTS.passThroughTimeout });
const tlsConfig = f.group('TLS to the server.', {
  secretRef: f.ref('Secret with certificates.'),
  sslParams: f.of(SslParameters, 'TLS versions. Default: 1.2 to 1.3.'),
});

const grpc = f.block(f.required('address'), {
  address: f.text('Address, `host:port`.'),
  connectionTimeout,
  tlsConfig,
  retryPolicy: f.group('Retries. Default: none.', {
    numRetries: f.count('Retries.', { default: 1 }),
    retryBackOff: f.group('Backoff between attempts.', {
      baseInterval: f.duration('Base interval.', { default: '1s' }),
      maxInterval: f.duration('Maximum interval. Default: ten times the base.'),
    }),
  }),
});
const http = f.block(f.required('url'), {
  url: f.text('URL of the server; status 200 allows the request.'),
  connectionTimeout,
  responseHeaderTimeout: f.duration('Timeout for the response head; `0s` is no limit.', { default: '0s' }),
  connectionPool: f.group('Connections.', {
    maxConns: f.count('Maximum number of connections.', { default: 100 }),
    idleTimeout: f.duration('Idle timeout of a connection.', { default: '0s' }),
  }),
  tlsConfig,
  request: f.group('The call.', {
    allowedHeaders: f.texts('Request headers to send.'),
    headersToAdd: f.map(f.text(), 'Headers to add.', f.headerValue),
    passThroughState: f.flag('Sends the state of earlier steps.'),
    passThroughFilterMetadata: f.flag('Sends metadata.'),
    passThroughBody: f.flag('Sends the body.'),
  }),
  response: f.group('The response.', {
    allowedUpstreamHeaders: f.texts(
      'Headers of the auth response to send to the upstream, appended to those of earlier steps. The client cannot set them.',
    ),
    allowedUpstreamHeadersToOverwrite: f.texts(
      'Headers of the auth response to send to the upstream, replacing those of earlier steps. The client cannot set them.',
    ),
    allowedClientHeadersOnDenied: f.texts('Headers of a denial to send to the client.'),
    allowedClientHeadersOnSuccess: f.texts('Headers of an allow response to send to the client.'),
    readStateFromResponse: f.flag('Reads the state from the response.'),
  }),
});
const fields = f.block(f.oneOf(['grpc', 'http']), {
  config: f.anything('Settings to send to the server.'),
  failureModeAllow: f.flag(
    'Allows requests when the auth server fails. Failures caused by the client are always rejected.',
  ),
  grpc: f.of(grpc, 'Calls over gRPC.'),
  http: f.of(http, 'Calls over HTTP.'),
});
/** Your own auth server decides. */
export interface PassThroughAuth extends f.Static<typeof fields> {}
export const PassThroughAuth = f.named<PassThroughAuth>('PassThroughAuth', fields);

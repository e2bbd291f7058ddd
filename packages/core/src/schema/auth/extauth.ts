import { DEFAULTS } from '../defaults.ts';
import * as f from '../field.ts';

const extension = f.block(f.exclusive, {
  configRef: f.ref('AuthConfig that requests must satisfy.'),
  disable: f.flag('True disables external auth at this level and below.'),
  customAuth: f.group('Calls your own auth server; `{}` is enough.', {
    contextExtensions: f.map(f.text(), 'Values to send to a server over gRPC.'),
    name: f.text('Entry in Settings `namedExtauth`. Default: the server in `extauth` of the listener or the Settings.'),
  }),
});
/** External auth of a virtual host, route or weighted destination; the most specific level applies. */
export interface ExtAuthExtension extends f.Static<typeof extension> {}
export const ExtAuthExtension = f.named<ExtAuthExtension>('ExtAuthExtension', extension);

const httpService = f.block({
  pathPrefix: f.text('Prefix for the path of the request; a slash at its end is removed.'),
  request: f.group('The call.', {
    allowedHeaders: f.texts('Request headers to send to the server, besides `host` and `authorization`.'),
    allowedHeadersRegex: f.texts('RE2 expressions for request headers to send.'),
    headersToAdd: f.map(f.text(), 'Headers added to the call.', f.headerValue),
  }),
  response: f.group('The response.', {
    allowedUpstreamHeaders: f.texts('Headers of the auth response that replace request headers to the upstream.'),
    allowedClientHeaders: f.texts('Headers of a denial to send to the client. Empty: all.'),
    allowedUpstreamHeadersToAppend: f.texts(
      'Headers of the auth response to append to request headers to the upstream.',
    ),
    allowedClientHeadersOnSuccess: f.texts(
      'Headers of an allow response to add to the response to the client.',
      f.addition,
    ),
  }),
});
const server = f.block(f.oneOf(['httpService', 'grpcService']), {
  extauthzServerRef: f.ref(
    'Upstream of the server. Default namespace: gw-system. Unset: AuthConfigs are evaluated in the gateway itself.',
  ),
  httpService: f.of(httpService, 'Calls over HTTP. Unset: gRPC.'),
  grpcService: f.group('Calls over gRPC.', {
    authority: f.text('`:authority` of the calls. Default: the address of the endpoint.'),
  }),
  userIdHeader: f.text('Header with the user for the upstream; always removed from client requests.', {
    default: DEFAULTS.userIdHeader,
  }),
  requestTimeout: f.duration('Timeout of a call of the server, or of a step that calls another one; must not be 0.', {
    default: DEFAULTS.authTimeout,
  }),
  failureModeAllow: f.flag(
    'Allows requests when an auth server fails. Failures caused by the client are always rejected.',
  ),
  requestBody: f.group('Sends the request body too. Unset: no body.', {
    maxRequestBytes: f.uint32('Maximum body size in bytes; 0 is the default.', { default: DEFAULTS.authBodyBytes }),
    allowPartialMessage: f.flag('Sends the beginning of a larger body instead of rejecting it with 413.'),
    packAsBytes: f.flag('Sends bytes instead of text to servers over gRPC.'),
  }),
  clearRouteCache: f.flag('Selects the route again after headers were added.'),
  statusOnError: f.int('Status if a check failed; a valid status from 200.', {
    minimum: 100,
    maximum: 599,
    default: DEFAULTS.authStatusOnError,
  }),
  transportApiVersion: f.choice(['V3'], 'Version of the protocol.'),
  statPrefix: f.text('Additional prefix of the statistics.'),
});
/** The external auth server. */
export interface ExtAuthServer extends f.Static<typeof server> {}
export const ExtAuthServer = f.named<ExtAuthServer>('ExtAuthServer', server);

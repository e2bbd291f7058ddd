import { DEFAULTS } from '../defaults.ts';
import {
  block,
  bool,
  duration,
  enumeration,
  int,
  list,
  map,
  named,
  notYet,
  of,
  ref,
  refused,
  text,
  type Static,
} from '../field.ts';

/** Fields that call a custom auth server directly. */
export const OWN_SERVER = 'refer to an AuthConfig with passThroughAuth by configRef';

const extension = block(
  {
    configRef: ref('AuthConfig that requests must satisfy.'),
    disable: bool('True disables external auth at this level and below.', { default: false }),
    customAuth: of(
      block({
        contextExtensions: map(text(), 'Values to send to the server.'),
        name: text('Entry in Settings `namedExtauth`. Default: the server in Settings `extauth`.'),
      }),
      'Calls your own auth server.',
      { ...refused, 'x-instead': OWN_SERVER },
    ),
  },
  { oneOf: [{ members: ['configRef', 'disable', 'customAuth'] }] },
);
/** External auth of a virtual host, route or weighted destination; the most specific level applies. */
export interface ExtAuthExtension extends Static<typeof extension> {}
export const ExtAuthExtension = named<ExtAuthExtension>('ExtAuthExtension', extension);

const httpService = block({
  pathPrefix: text('Prefix for the path of the request.'),
  request: of(
    block({
      allowedHeaders: list(text(), 'Request headers to send to the server.'),
      allowedHeadersRegex: list(text(), 'RE2 expressions for request headers to send.'),
      headersToAdd: map(text(), 'Headers added to the call.'),
    }),
    'The call.',
  ),
  response: of(
    block({
      allowedUpstreamHeaders: list(
        text(),
        'Headers of the auth response that replace request headers to the upstream.',
      ),
      allowedClientHeaders: list(text(), 'Headers of a denial to send to the client. Empty: all.'),
      allowedUpstreamHeadersToAppend: list(
        text(),
        'Headers of the auth response to append to request headers to the upstream.',
      ),
    }),
    'The response.',
  ),
});
const server = block(
  {
    extauthzServerRef: ref('Upstream of the server. Without effect: the chain runs in the gateway.', notYet),
    httpService: of(httpService, 'Calls over HTTP. Unset: gRPC.', notYet),
    grpcService: of(block({ authority: text('`:authority` of the calls.') }), 'Calls over gRPC.', notYet),
    userIdHeader: text('Header with the user for the upstream; always removed from client requests.', {
      default: DEFAULTS.userIdHeader,
    }),
    requestTimeout: duration('Timeout of a step that calls another server; must not be 0.', {
      default: DEFAULTS.authTimeout,
    }),
    failureModeAllow: bool(
      'Allows requests when an auth server fails. Failures caused by the client are always rejected.',
      {
        default: false,
      },
    ),
    requestBody: of(
      block({
        maxRequestBytes: int('Maximum body size in bytes; 0 is the default.', {
          minimum: 0,
          maximum: 4294967295,
          default: DEFAULTS.authBodyBytes,
        }),
        allowPartialMessage: bool('Sends the beginning of a larger body instead of rejecting it with 413.', {
          default: false,
        }),
        packAsBytes: bool('Sends bytes instead of text to servers over gRPC.', { default: false }),
      }),
      'Sends the request body too. Unset: no body.',
    ),
    clearRouteCache: bool('Selects the route again after headers were added.', { default: false }),
    statusOnError: int('Status if a check failed; a valid status from 200.', {
      minimum: 100,
      maximum: 599,
      default: DEFAULTS.authStatusOnError,
    }),
    transportApiVersion: enumeration(['V3'], 'Version of the protocol.', { default: 'V3', ...notYet }),
    statPrefix: text('Prefix of the statistics.', notYet),
  },
  { oneOf: [{ members: ['httpService', 'grpcService'] }] },
);
/** The external auth server. */
export interface ExtAuthServer extends Static<typeof server> {}
export const ExtAuthServer = named<ExtAuthServer>('ExtAuthServer', server);

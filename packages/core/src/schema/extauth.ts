import { DEFAULTS } from './defaults.ts';
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
} from './field.ts';

/** What asks an own server as it is. */
export const OWN_SERVER = 'refer to an AuthConfig with passThroughAuth by configRef';

const extension = block(
  {
    configRef: ref('AuthConfig that requests have to pass.'),
    disable: bool('True asks nobody here and below.', { default: false }),
    customAuth: of(
      block({
        contextExtensions: map(text(), 'Values that the server is told.'),
        name: text('Entry of Settings `namedExtauth`. Default: the server of Settings `extauth`.'),
      }),
      'Asks an own server.',
      { ...refused, 'x-instead': OWN_SERVER },
    ),
  },
  { oneOf: [{ members: ['configRef', 'disable', 'customAuth'] }] },
);
/** External auth of a virtual host, route or weighted destination; the nearest one wins. */
export interface ExtAuthExtension extends Static<typeof extension> {}
export const ExtAuthExtension = named<ExtAuthExtension>('ExtAuthExtension', extension);

const httpService = block({
  pathPrefix: text('Put before the path of the request.'),
  request: of(
    block({
      allowedHeaders: list(text(), 'Request headers that the server is told.'),
      allowedHeadersRegex: list(text(), 'RE2 expressions for such headers.'),
      headersToAdd: map(text(), 'Headers added to the call.'),
    }),
    'The call.',
  ),
  response: of(
    block({
      allowedUpstreamHeaders: list(text(), 'Headers of the answer that replace those to the upstream.'),
      allowedClientHeaders: list(text(), 'Headers of a refusal that the client gets. Empty: all.'),
      allowedUpstreamHeadersToAppend: list(text(), 'Headers of the answer added to those to the upstream.'),
    }),
    'The answer.',
  ),
});
const server = block(
  {
    extauthzServerRef: ref('Upstream of the server. Without effect: the chain runs in the gateway.', notYet),
    httpService: of(httpService, 'Calls over HTTP. Unset: gRPC.', notYet),
    grpcService: of(block({ authority: text('`:authority` of the calls.') }), 'Calls over gRPC.', notYet),
    userIdHeader: text('Header with the user for the upstream; always removed from requests.', {
      default: DEFAULTS.userIdHeader,
    }),
    requestTimeout: duration('Longest time for a step that asks others; not 0.', { default: DEFAULTS.authTimeout }),
    failureModeAllow: bool(
      'Allows requests when an auth server fails. Failures caused by the client are always rejected.',
      {
        default: false,
      },
    ),
    requestBody: of(
      block({
        maxRequestBytes: int('Largest body in bytes; 0 is the default.', {
          minimum: 0,
          maximum: 4294967295,
          default: DEFAULTS.authBodyBytes,
        }),
        allowPartialMessage: bool('Sends the beginning of a larger body instead of answering 413.', { default: false }),
        packAsBytes: bool('Sends bytes instead of text to servers over gRPC.', { default: false }),
      }),
      'Sends the body too. Unset: it is not sent.',
    ),
    clearRouteCache: bool('Chooses the route again after headers were added.', { default: false }),
    statusOnError: int('Status when nobody could judge; one that exists, from 200.', {
      minimum: 100,
      maximum: 599,
      default: DEFAULTS.authStatusOnError,
    }),
    transportApiVersion: enumeration(['V3'], 'Version of the protocol.', { default: 'V3', ...notYet }),
    statPrefix: text('Prefix of the statistics.', notYet),
  },
  { oneOf: [{ members: ['httpService', 'grpcService'] }] },
);
/** The server that decides. */
export interface ExtAuthServer extends Static<typeof server> {}
export const ExtAuthServer = named<ExtAuthServer>('ExtAuthServer', server);

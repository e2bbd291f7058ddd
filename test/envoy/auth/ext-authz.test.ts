import { expect } from 'chai';
import { send } from '../client.ts';
import type { Message } from '../message.ts';
import { ask, post } from '../scenario.ts';
import { startUpstream, type ScriptedUpstream } from '../upstream.ts';
import { startAuthServers, type AuthServers, type GrpcReply, type HttpReply } from './auth-servers.ts';
import { startEnvoyAuth, startOurAuth, type AuthGateway, type AuthSetup } from './gateways.ts';

const PATIENT = { requestTimeout: '5s' };
const ref = (name: string) => ({ extauthzServerRef: { name, namespace: 'gw-system' } });
const overGrpc = (cluster: string) => ({ grpc_service: { envoy_grpc: { cluster_name: cluster }, timeout: '5s' } });
const HTTP_SERVER = { server_uri: { uri: 'http://auth', cluster: 'http', timeout: '5s' } };
const exactly = (...names: string[]) => ({ patterns: names.map((exact) => ({ exact })) });

const SETUPS = {
  grpc: { ours: { ...ref('grpc'), ...PATIENT }, envoy: overGrpc('grpc'), extensions: { team: 'a' } },
  text: {
    ours: { ...ref('grpc'), ...PATIENT, requestBody: { maxRequestBytes: 8, allowPartialMessage: true } },
    envoy: { ...overGrpc('grpc'), with_request_body: { max_request_bytes: 8, allow_partial_message: true } },
  },
  bytes: {
    ours: { ...ref('grpc'), ...PATIENT, requestBody: { maxRequestBytes: 8, packAsBytes: true } },
    envoy: { ...overGrpc('grpc'), with_request_body: { max_request_bytes: 8, pack_as_bytes: true } },
  },
  http: { ours: { ...ref('http'), ...PATIENT, httpService: {} }, envoy: { http_service: HTTP_SERVER } },
  lists: {
    ours: {
      ...ref('http'),
      ...PATIENT,
      requestBody: { maxRequestBytes: 100 },
      httpService: {
        pathPrefix: '/auth/',
        request: { allowedHeaders: ['X-A'], allowedHeadersRegex: ['x-r[0-9]'], headersToAdd: { 'x-added': 'v' } },
        response: {
          allowedUpstreamHeaders: ['X-Up'],
          allowedUpstreamHeadersToAppend: ['x-app'],
          allowedClientHeaders: ['X-Client'],
        },
      },
    },
    envoy: {
      with_request_body: { max_request_bytes: 100 },
      http_service: {
        ...HTTP_SERVER,
        path_prefix: '/auth',
        authorization_request: {
          allowed_headers: { patterns: [{ exact: 'x-a' }, { safe_regex: { regex: 'x-r[0-9]' } }] },
          headers_to_add: [{ key: 'x-added', value: 'v' }],
        },
        authorization_response: {
          allowed_upstream_headers: exactly('x-up'),
          allowed_upstream_headers_to_append: exactly('x-app'),
          allowed_client_headers: exactly('x-client'),
        },
      },
    },
  },
  refused: {
    ours: { ...ref('refused'), ...PATIENT, statusOnError: 503 },
    envoy: { ...overGrpc('refused'), status_on_error: { code: 503 } },
  },
  allowing: {
    ours: { ...ref('refused'), ...PATIENT, failureModeAllow: true, statPrefix: 'pre' },
    envoy: { ...overGrpc('refused'), failure_mode_allow: true, stat_prefix: 'pre' },
  },
} satisfies Record<string, AuthSetup>;

interface AuthCase {
  readonly setup: keyof typeof SETUPS;
  readonly request: string;
  readonly grpc?: GrpcReply;
  readonly http?: HttpReply;
  /** What differs on purpose: the observation of Envoy and ours. */
  readonly differs?: Readonly<Record<string, readonly [envoys: unknown, ours: unknown]>>;
}

/** A request with a body of these bytes. */
const posted = (body: string) => ask('POST /', [`content-length: ${body.length}`], body);
const OK = { status: { code: 0 } };
const DENIED = { status: { code: 7 } };
const option = (key: string, value: string, more: object = {}) => ({ header: { key, value }, ...more });
const allows = (okResponse: object): GrpcReply => ({ response: { ...OK, okResponse } });
const APPEND = { append: { value: true } };
const grpc = (request: string, reply?: GrpcReply): AuthCase => ({
  setup: 'grpc',
  request,
  ...(reply && { grpc: reply }),
});
/** Options of one action, for a header that the client sends, for one that it does not, and twice. */
const withAction = (more: object): AuthCase =>
  grpc(
    ask('GET /', ['x-there: client']),
    allows({
      headers: [option('x-there', 'server', more), option('x-new', 'one', more), option('x-new', 'two', more)],
      responseHeadersToAdd: [option('x-seen', 'server', more)],
    }),
  );

const CASES: Readonly<Record<string, AuthCase>> = {
  'a request with headers': {
    ...grpc(
      ask('GET /p/../a%20b?x=1', [
        'X-A: 1',
        'X-A: 2',
        'cookie: a=1',
        'authorization: Basic x',
        'x-envoy-auth-partial-body: true',
      ]),
    ),
    differs: { 'upstream x-envoy-auth-partial-body': ['true', undefined] },
  },
  'a body that is not sent': grpc(post('/', 'abc')),
  'a body as text, with invalid bytes': { setup: 'text', request: posted('a\xff\xc3\xa9\xe2\x82b') },
  'a request without a body': { setup: 'text', request: ask('GET /') },
  'the start of a body': { setup: 'text', request: post('/', 'abcdefghijkl') },
  'a body as bytes': { setup: 'bytes', request: posted('a\xff\x00b') },
  'a body that is too large': { setup: 'bytes', request: post('/', 'abcdefghijkl') },
  'a route without external auth': grpc(ask('GET /open')),
  'headers without an action': withAction({}),
  'headers with append': withAction(APPEND),
  'headers that replace': withAction({ append: { value: false } }),
  'headers with ADD_IF_ABSENT': withAction({ appendAction: 'ADD_IF_ABSENT' }),
  'headers with OVERWRITE_IF_EXISTS_OR_ADD': withAction({ appendAction: 'OVERWRITE_IF_EXISTS_OR_ADD' }),
  'headers with OVERWRITE_IF_EXISTS': withAction({ appendAction: 'OVERWRITE_IF_EXISTS' }),
  'removed headers': grpc(
    ask('GET /', ['x-gone: 1', 'x-both: 1', 'x-kept: 1']),
    allows({ headers: [option('x-both', 'set')], headersToRemove: ['X-Gone', 'x-both', 'host', ':path'] }),
  ),
  'query parameters': grpc(
    ask('GET /?gone=1&set=old'),
    allows({ queryParametersToSet: [{ key: 'set', value: 'new' }], queryParametersToRemove: ['gone'] }),
  ),
  'pseudo-headers': {
    ...grpc(
      ask('GET /'),
      allows({ headers: [option(':path', '/other'), option('host', 'evil'), option('x-ok', '1')] }),
    ),
    // Routing and policies have used the path already.
    differs: {
      'upstream line': ['GET /other HTTP/1.1', 'GET / HTTP/1.1'],
      'upstream host': ['evil', 'a.test'],
    },
  },
  'a denial': grpc(ask('GET /'), {
    response: {
      ...DENIED,
      deniedResponse: {
        status: { code: 'Unauthorized' },
        headers: [option('x-why', 'no'), option('set-cookie', 'a=1'), option('set-cookie', 'b=2')],
        body: 'who?',
      },
    },
  }),
  'a denial without a response': grpc(ask('GET /'), { response: DENIED }),
  'a denial with a success status': {
    ...grpc(ask('GET /'), { response: { ...DENIED, deniedResponse: { status: { code: 'OK' }, body: 'x' } } }),
    differs: { 'response line': ['HTTP/1.1 200 OK', 'HTTP/1.1 403 Forbidden'] },
  },
  'a response without a status': grpc(ask('GET /'), { response: {} }),
  'a failed call': grpc(ask('GET /'), { code: 13 }),
  'a rejected call': grpc(ask('GET /'), { code: 16 }),
  'HTTP: a request': { setup: 'http', request: ask('GET /a?b=1', ['x-a: 1', 'cookie: a=1', 'authorization: Basic x']) },
  'HTTP: a body that is not sent': { setup: 'http', request: post('/a', 'abc') },
  'HTTP: allowed headers, and a body': {
    setup: 'lists',
    request: post('/a?b=1', 'abc', [
      'x-a: 1',
      'x-a: 2',
      'x-r1: 3',
      'x-rx: 4',
      'x-added: 5',
      'x-up: 6',
      'x-app: 7',
      'x-gone: 8',
    ]),
    http: {
      status: 200,
      headers: [
        'x-up',
        'a',
        'x-up',
        'b',
        'x-app',
        'c',
        'x-no',
        'd',
        'x-client',
        'e',
        'x-envoy-auth-headers-to-remove',
        'x-gone, :path',
      ],
    },
  },
  'HTTP: a denial': {
    setup: 'http',
    request: ask('GET /'),
    http: {
      status: 401,
      headers: ['x-why', 'no', 'set-cookie', 'a=1', 'set-cookie', 'b=2', 'content-type', 'text/x'],
      body: 'who?',
    },
  },
  'HTTP: a denial with allowed headers': {
    setup: 'lists',
    request: ask('GET /'),
    http: {
      status: 302,
      headers: [
        'x-why',
        'no',
        'x-client',
        'c',
        'location',
        '/login',
        'www-authenticate',
        'A',
        'proxy-authenticate',
        'P',
      ],
      body: 'go',
    },
  },
  'HTTP: a header that is not granted': {
    setup: 'lists',
    request: ask('GET /', ['x-up: forged', 'x-app: client']),
    // The upstream trusts the header.
    differs: { 'upstream x-up': ['forged', undefined] },
  },
  'HTTP: another success status': {
    setup: 'http',
    request: ask('GET /'),
    http: { status: 204 },
    differs: { 'response line': ['HTTP/1.1 204 No Content', 'HTTP/1.1 403 Forbidden'] },
  },
  'HTTP: a server error': { setup: 'http', request: ask('GET /'), http: { status: 500, body: 'x' } },
  'a server that is down': { setup: 'refused', request: ask('GET /') },
  'a server that is down, with failureModeAllow': { setup: 'allowing', request: ask('GET /') },
};

/** Differ in each request, or in every response of ours; test/envoy/scenarios compare them. */
const VOLATILE =
  /^(accept-encoding|date|server|connection|keep-alive|vary|x-request-id|x-forwarded-.*|x-envoy-(external-address|internal|upstream-service-time|expected-rq-timeout-ms))$/;

describe('an auth server of ours and of Envoy', function () {
  this.timeout(60_000);
  let servers: AuthServers;
  let up: ScriptedUpstream;
  let envoy: AuthGateway;
  let ours: AuthGateway;

  before(async () => {
    servers = await startAuthServers();
    up = await startUpstream();
    const ports = { up: up.port, grpc: servers.grpcPort, http: servers.httpPort };
    const setups = Object.values(SETUPS);
    [envoy, ours] = await Promise.all([startEnvoyAuth(setups, ports), startOurAuth(setups, ports)]);
  });

  after(async () => {
    await Promise.all([envoy?.close(), ours?.close(), servers?.close(), up?.close()]);
  });

  async function observe(
    gateway: AuthGateway,
    { setup, request, grpc, http }: AuthCase,
  ): Promise<Record<string, unknown>> {
    servers.grpc = grpc ?? { response: OK };
    servers.http = http ?? { status: 200 };
    servers.checks.length = 0;
    servers.calls.length = 0;
    up.play();
    const port = gateway.port(String(Object.keys(SETUPS).indexOf(setup)));
    const { responses } = await send({ port }, [request.replaceAll('$host', 'a.test')]);
    return {
      ...messageFields('response', responses[0]),
      ...messageFields('upstream', up.received[0]),
      checks: servers.checks.map(checkOf),
      calls: servers.calls.map(({ line, headers, body }) => [
        line,
        headersOf(pairsOf(headers)),
        lengthIn(headers),
        body,
      ]),
    };
  }

  for (const [name, each] of Object.entries(CASES)) {
    it(`handles ${name} in the same way`, async () => {
      const expected = await observe(envoy, each);
      const observed = await observe(ours, each);
      for (const [field, [envoys, own]] of Object.entries(each.differs ?? {})) {
        expect([expected[field], observed[field]], field).to.deep.equal([envoys, own]);
        delete expected[field];
        delete observed[field];
      }
      expect(observed).to.deep.equal(expected);
    });
  }

  it('counts the same', async () => {
    for (const gateway of [envoy, ours]) {
      for (const path of ['http.http.ext_authz', 'cluster.up_gw-system.ext_authz']) {
        const at = gateway === envoy ? path.replace('up_gw-system', 'up') : path;
        expect(await gateway.stat(`${at}.pre.error`), at).to.equal(1);
        expect(await gateway.stat(`${at}.pre.failure_mode_allowed`), at).to.equal(1);
        expect(await gateway.stat(`${at}.denied`), at).to.be.greaterThan(3);
        expect(await gateway.stat(`${at}.error`), at).to.equal(4);
      }
      expect(await gateway.stat('http.http.ext_authz.disabled')).to.equal(0);
    }
  });
});

function messageFields(name: string, message: Message | undefined): Record<string, unknown> {
  if (!message) return { [`${name} line`]: undefined };
  const headers = Object.entries(headersOf(message.headers)).map(([key, value]) => [`${name} ${key}`, value]);
  return { [`${name} line`]: message.startLine, [`${name} body`]: message.body, ...Object.fromEntries(headers) };
}

function headersOf(pairs: readonly (readonly [name: string, value: string])[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [written, value] of pairs) {
    const name = written.toLowerCase();
    if (VOLATILE.test(name) || (name === 'content-length' && value === '0')) continue;
    headers[name] = headers[name] === undefined ? value : `${headers[name]},${value}`;
  }
  return headers;
}

const lengthIn = (flat: readonly string[]): string | undefined =>
  pairsOf(flat).find(([name]) => name.toLowerCase() === 'content-length')?.[1];

function pairsOf(flat: readonly string[]): [name: string, value: string][] {
  return flat.flatMap((name, i): [string, string][] => (i % 2 === 0 ? [[name, flat[i + 1]!]] : []));
}

interface Attributes {
  readonly source: { readonly address: { readonly socketAddress: { readonly address: string } } };
  readonly destination: Attributes['source'];
  readonly request: {
    readonly time: object;
    readonly http: Record<string, unknown> & { readonly headers: Record<string, string> };
  };
  readonly contextExtensions?: object;
  readonly metadataContext?: object;
}

/** The attributes of a check without what differs in each request. */
function checkOf(attributes: Record<string, unknown>): object {
  const { source, destination, request, contextExtensions, metadataContext } = attributes as unknown as Attributes;
  const { id: _id, headers, ...http } = request.http;
  return {
    http: { size: 0, ...http },
    headers: headersOf(Object.entries(headers)),
    hasTime: 'seconds' in request.time,
    from: source.address.socketAddress.address,
    to: destination.address.socketAddress.address,
    contextExtensions,
    metadataContext,
  };
}

import { request } from 'node:http';
import { createContext, createControlPlane, memorySource, silentLoggers, type ControlPlane } from '@edge-gateway/core';
import { createListeners, createRouter, type Router } from '@edge-gateway/routing';
import { transcoderChecks } from '@edge-gateway/routing/grpc-json';
import { expect } from 'chai';
import { shopDescriptors } from '../../packages/routing/test/transcode/shop.ts';
import { startShop, type ShopServer } from '../../packages/routing/test/transcode/shop-server.ts';
import { runEnvoy, socketAddress } from './envoy-data-plane.ts';
import type { DataPlane } from './our-data-plane.ts';
import { envoyType } from './scenario.ts';

const BINARY = Buffer.from(shopDescriptors()).toString('base64');

/** The options of a transcoder: ours, whose names Envoy writes in snake case. */
const SETUPS = {
  plain: {},
  mapped: { autoMapping: true, ignoreUnknownQueryParameters: true, ignoredQueryParameters: ['debug'] },
  status: { convertGrpcStatus: true },
  printed: {
    printOptions: {
      addWhitespace: true,
      alwaysPrintPrimitiveFields: true,
      alwaysPrintEnumsAsInts: true,
      preserveProtoFieldNames: true,
    },
  },
} as const;
type Setup = keyof typeof SETUPS;
const NAMES = Object.keys(SETUPS) as Setup[];

const FIRST_PORT = 22_000;

async function startOurs(port: number): Promise<DataPlane> {
  const resources = NAMES.flatMap((name, i) => [
    {
      apiVersion: 'gateway.vendor.io/v1',
      kind: 'Gateway',
      metadata: { name },
      spec: {
        bindAddress: '127.0.0.1',
        bindPort: FIRST_PORT + i,
        httpGateway: { virtualServices: [{ name, namespace: 'gw-system' }] },
      },
    },
    {
      apiVersion: 'gateway.vendor.io/v1',
      kind: 'VirtualService',
      metadata: { name },
      spec: {
        virtualHost: {
          domains: ['*'],
          routes: [{ matchers: [{ prefix: '/' }], routeAction: { single: { upstream: { name } } } }],
        },
      },
    },
    {
      apiVersion: 'gw.vendor.io/v1',
      kind: 'Upstream',
      metadata: { name },
      spec: {
        static: {
          hosts: [{ addr: '127.0.0.1', port }],
          serviceSpec: {
            grpcJsonTranscoder: { services: ['shop.Shop'], protoDescriptorBin: BINARY, ...SETUPS[name] },
          },
        },
      },
    },
  ]);
  const controlPlane: ControlPlane = createControlPlane({
    source: memorySource({ resources }),
    checks: transcoderChecks,
    log: silentLoggers,
  });
  await controlPlane.start();
  const { issues, snapshots } = controlPlane.state!;
  if (issues.length > 0) throw new Error(issues.map(({ message }) => message).join('\n'));
  const context = createContext({ log: silentLoggers });
  const router: Router = createRouter({ context, accessLog: 'none' });
  const listeners = createListeners({ router, context, host: '127.0.0.1', portOf: () => 0 });
  const snapshot = snapshots.get('gateway-proxy')!;
  router.apply(snapshot);
  const opened = await listeners.apply(snapshot);
  return {
    port: (setup) => opened.find(({ name }) => name.endsWith(`-${FIRST_PORT + NAMES.indexOf(setup as Setup)}`))!.port!,
    async close() {
      await listeners.close();
      await router.close();
      await controlPlane.close();
    },
  };
}

async function startTheirs(port: number): Promise<DataPlane> {
  const listeners = NAMES.map((name) => ({
    name,
    address: socketAddress(0),
    filter_chains: [
      {
        filters: [
          {
            name: 'http',
            typed_config: {
              ...envoyType('filters.network.http_connection_manager.v3.HttpConnectionManager'),
              stat_prefix: 'http',
              use_remote_address: true,
              normalize_path: true,
              route_config: {
                virtual_hosts: [
                  { name, domains: ['*'], routes: [{ match: { prefix: '/' }, route: { cluster: 'shop' } }] },
                ],
              },
              http_filters: [
                {
                  name: 'transcoder',
                  typed_config: {
                    ...envoyType('filters.http.grpc_json_transcoder.v3.GrpcJsonTranscoder'),
                    services: ['shop.Shop'],
                    proto_descriptor_bin: WITH_WELL_KNOWN,
                    ...snakeCase(SETUPS[name]),
                  },
                },
                { name: 'router', typed_config: envoyType('filters.http.router.v3.Router') },
              ],
            },
          },
        ],
      },
    ],
  }));
  const cluster = {
    name: 'shop',
    connect_timeout: '5s',
    typed_extension_protocol_options: {
      'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': {
        '@type': 'type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions',
        explicit_http_config: { http2_protocol_options: {} },
      },
    },
    load_assignment: {
      cluster_name: 'shop',
      endpoints: [{ lb_endpoints: [{ endpoint: { address: socketAddress(port) } }] }],
    },
  };
  return await runEnvoy({ static_resources: { listeners, clusters: [cluster] } }, listeners.length);
}

function snakeCase(options: object): object {
  return Object.fromEntries(
    Object.entries(options).map(([key, value]) => [
      key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      typeof value === 'object' && !Array.isArray(value) ? snakeCase(value as object) : (value as unknown),
    ]),
  );
}

const WITH_WELL_KNOWN = Buffer.from(shopDescriptors({ wellKnown: true })).toString('base64');

interface Asked {
  readonly setup?: Setup;
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
}

function ask(
  port: number,
  line: string,
  { headers = {}, body }: Asked,
): Promise<{ status: number; headers: Record<string, unknown>; body: string }> {
  const [method = '', path = ''] = line.split(' ');
  return new Promise((resolve, reject) => {
    const all = {
      ...(body !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
      ...headers,
    };
    const req = request({ port, host: '127.0.0.1', method, path, headers: all, agent: false }, (res) => {
      let text = '';
      const done = (more = ''): void => resolve({ status: res.statusCode!, headers: res.headers, body: text + more });
      res.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      res.on('end', () => done()).on('error', () => done(' (aborted)'));
    });
    req.on('error', reject).end(body);
  });
}

/** What a request leads to: the calls of the server, and the response; the text of an error is the gateway's own. */
async function observe(plane: DataPlane, shop: ShopServer, [line, asked]: readonly [string, Asked]): Promise<string> {
  shop.calls.length = 0;
  const { status, headers, body } = await ask(plane.port(asked.setup ?? 'plain'), line, asked);
  const calls = shop.calls.map(
    ({ method, request: message }) => `${method}${message === undefined ? '' : ` ${plain(message)}`}`,
  );
  const content = status === 200 ? ` ${String(headers['content-type'])} ${body}` : '';
  const code = headers['grpc-status'];
  const shown = code === undefined ? content : ` ${String(code)} ${String(headers['grpc-message'])}${content}`;
  return `${calls.join(', ')} -> ${status}${shown}`;
}

/** The fields of a message that are not their default. */
function plain(message: unknown): string {
  return JSON.stringify(message, (key, value: unknown) => {
    if (key === '$typeName' || key === '$unknown') return undefined;
    const text = typeof value === 'bigint' ? String(value) : value;
    if (key === 'side' && !(value as { readonly case?: string }).case) return undefined;
    const isDefault = text === '' || text === 0 || text === '0' || text === false;
    const isEmpty = typeof text === 'object' && text !== null && Object.keys(text).length === 0;
    return isDefault || (isEmpty && key !== 'book') ? undefined : text;
  });
}

const CASES: Readonly<Record<string, Asked>> = {
  'GET /v1/books/7': {},
  'GET /v1/books/7/': {},
  'GET /v1/books//7': {},
  'GET /v1/books/7?title=a+b%20c': {},
  'GET /v1/books/7?title=a&title=b': {},
  'GET /v1/books/7?title': {},
  'GET /v1/books/7?title=': {},
  'GET /v1/books/7?debug=1': {},
  'GET /v1/books/7?ti%74le=a': {},
  'GET /v1/books/7?id=3': {},
  'GET /v1/books/0?id=3': {},
  'GET /v1/books/x': {},
  'GET /v1/books/9007199254740993': {},
  'GET /v1/books/9223372036854775808': {},
  'GET /v1/books/1.5': {},
  'GET /v1/books/-4': {},
  'HEAD /v1/books/7': {},
  'GET /v1/books/7 ': { body: '{}' },
  'GET /v1/authors/A%2FB%20%C3%A9/books/7': {},
  'GET /v1/shelves/a%2Fb/books?size=1': {},
  'GET /v1/shelves/a/titles?size=2': {},
  'GET /v1/shelves/a/titles': {},
  'GET /v1/files/a/b%2Fc%20d': {},
  'GET /v1/files/': {},
  'GET /v1/files': {},
  'GET /v1/texts/%C3': {},
  'GET /v1/texts/a:b': {},
  'GET /v1/deep/x?inner.number=4&inner.names=a&inner.names=b': {},
  'GET /v1/echo?names=a&names=b&numbers=1': {},
  'GET /v1/echo?colour=GREEN': {},
  'GET /v1/echo?colour=1': {},
  'GET /v1/echo?colour=BLUE': {},
  'GET /v1/echo?sure=true&precise=0.1&ratio=1e3': {},
  'GET /v1/echo?sure=yes': {},
  'GET /v1/echo?sure=1': {},
  'GET /v1/echo?number=a': {},
  'GET /v1/echo?number=': {},
  'GET /v1/echo?wrapped=5&wrappedText=a': {},
  'GET /v1/echo?wrapped.value=5': {},
  'GET /v1/echo?at=2026-01-02T03:04:05Z&took=1.5s': {},
  'GET /v1/echo?at=today': {},
  'GET /v1/echo?inner=x': {},
  'GET /v1/echo?labels.a=b': {},
  'GET /v1/echo?raw=aGk=': {},
  'GET /v1/echo?anything=x': {},
  'GET /v1/echo?leftHand=a&rightHand=2': {},
  'POST /v1/shelves/a/books?note=n': { body: '{"id": 7}' },
  'POST /v1/shelves/a/books?book.title=t': { body: '{"id": 7}' },
  'POST /v1/shelves/a/books': { body: '' },
  'POST /v1/books/7:archive': { body: '{"title":"a"}' },
  'POST /v1/books/7:other': { body: '{}' },
  'PATCH /v1/books/7': { body: '{"id": 5, "title": "a"}' },
  'PATCH /v1/books/0': { body: '{"id": 5, "title": "a"}' },
  'POST /v1/echo': { body: '{"text":"a","pageCount":1,"inner":{"text":"b"}}' },
  'POST /v1/echo?1': { body: '{"unknown":1,"inner":{"unknown":{"a":[1]}},"text":"a"}' },
  'POST /v1/echo?2': { body: '{"text":1}' },
  'POST /v1/echo?3': { body: '{"text":"a"' },
  'POST /v1/echo?4': { body: '{"text":"a"}x' },
  'POST /v1/echo?5': { body: '{"text":"a","text":"b"}' },
  'POST /v1/echo?6': { body: '[]' },
  'POST /v1/echo?7': { body: '' },
  'POST /v1/echo?8': { body: '{"big":9007199254740993,"huge":"18446744073709551615"}' },
  'POST /v1/echo?9': { body: '{"number":1.5}' },
  'POST /v1/echo?10': { body: '{"number":"5","sure":"true"}' },
  'POST /v1/echo?11': { body: '{"colour":"BLUE"}' },
  'POST /v1/echo?12': { body: '{"colour":7}' },
  'POST /v1/echo?13': { body: '{"object":{"a":[1,{"b":null}]},"anything":[1]}' },
  'POST /v1/echo?14': { body: '{"labels":{"a":"b"},"parts":[{"text":"c"}],"raw":"aGk="}' },
  'POST /v1/echo?15': { body: '{"text":null,"wrapped":null}' },
  'POST /v1/echo?16': { body: `{"object":${'{"a":'.repeat(200)}1${'}'.repeat(200)}}` },
  'POST /v1/echo?17': { body: Buffer.from([0x7b, 0x22, 0x74, 0x65, 0x78, 0x74, 0x22, 0x3a, 0x22, 0xff, 0x22, 0x7d]) },
  'POST /v1/echo?18': { body: '{"packed":{"@type":"type.googleapis.com/shop.Book","id":"7"}}' },
  'POST /v1/echo?19': {
    body: '{"precise":0.1,"ratio":0.1,"at":"2026-01-02T03:04:05.5Z","took":"1.5s","mask":"text,innerText"}',
  },
  'POST /v1/echo?20': { body: '{"wrapped_text":"a","snake":1}' },
  'POST /v1/echo?21': { body: '{}', headers: { 'content-type': 'text/plain' } },
  'POST /v1/raw': { body: 'a,b', headers: { 'content-type': 'text/csv' } },
  'PUT /v1/stored/n': { body: 'a,b', headers: { 'content-type': 'text/csv' } },
  'GET /v1/fail/5?message=no%20book': {},
  'GET /v1/fail/99?message=x': {},
  'GET /v1/watch?after=2': {},
  'GET /v1/watch': {},
  'GET /v1/watch?code=5&message=x': {},
  'GET /v1/download?after=2': {},
  'POST /v1/collect': { body: '[{"id":1},{"id":2}]' },
  'POST /v1/collect?author=a': { body: '[{"id":1},{"id":2}]' },
  'POST /v1/collect?1': { body: '[]' },
  'POST /v1/chat': { body: '[{"id":1},{"id":2}]' },
  'POST /shop.Shop/Hidden': { body: '{"id":1}' },
  'POST /shop.Shop/Hidden?': { body: '{"id":1}', setup: 'mapped' },
  'GET /v1/books/7?debug=1&unknown=2&title=t': { setup: 'mapped' },
  'GET /v1/fail/7?message=no': { setup: 'status' },
  'GET /v1/fail/7?message=no&detail=true': { setup: 'status' },
  'GET /v1/fail/7?message=n%C3%A9': { setup: 'status' },
  'GET /v1/watch?code=5': { setup: 'status' },
  'GET /v1/echo?wrappedText=a&colour=GREEN&names=a': { setup: 'printed' },
  'GET /v1/watch?after=2 ': { setup: 'printed' },
  'POST /shop.Shop/Get': { body: '\0\0\0\0\0', headers: { 'content-type': 'application/grpc', te: 'trailers' } },
};

/** What differs: ours, and Envoy's. */
type Differing = readonly [ours: string, envoy: string];

const DIFFERENCES: Readonly<Record<string, Differing>> = {
  // What the route was chosen by must not be overridden, neither by the query nor by the body.
  'GET /v1/books/7?id=3': [
    'Get {"id":"7"} -> 200 0 OK application/json {"id":"7"}',
    'Get {"id":"3"} -> 200 0 OK application/json {"id":"3"}',
  ],
  'GET /v1/books/0?id=3': [
    'Get {} -> 200 0 OK application/json {}',
    'Get {"id":"3"} -> 200 0 OK application/json {"id":"3"}',
  ],
  'PATCH /v1/books/7': [
    'Change {"id":"7","title":"a"} -> 200 0 OK application/json {"id":"7","title":"a"}',
    'Change {"id":"5","title":"a"} -> 200 0 OK application/json {"id":"5","title":"a"}',
  ],
  'PATCH /v1/books/0': [
    'Change {"title":"a"} -> 200 0 OK application/json {"title":"a"}',
    'Change {"id":"5","title":"a"} -> 200 0 OK application/json {"id":"5","title":"a"}',
  ],
  // A body of a method without one, a member twice, and a value of another type are errors.
  'GET /v1/books/7 ': [' -> 400', 'Get {"id":"7"} -> 200 0 OK application/json {"id":"7"}'],
  'POST /v1/echo?5': [' -> 400', 'Echo {"text":"b"} -> 200 0 OK application/json {"text":"b"}'],
  'POST /v1/echo?10': [
    ' -> 400',
    'Echo {"number":5,"sure":true} -> 200 0 OK application/json {"number":5,"sure":true}',
  ],
  'GET /v1/texts/%C3': [' -> 400', ' -> 500 13 Error%20deserializing%20request'],
  // `response_body` also applies to other fields than raw ones.
  'GET /v1/shelves/a/titles?size=2': [
    'List {"shelf":"shelves/a","size":2} -> 200 0 OK application/json [{"id":"1","title":"shelves/a"},{"id":"2","title":"shelves/a"}]',
    'List {"shelf":"shelves/a","size":2} -> 200 0 OK application/json {"books":[{"id":"1","title":"shelves/a"},{"id":"2","title":"shelves/a"}]}',
  ],
  'GET /v1/shelves/a/titles': [
    'List {"shelf":"shelves/a"} -> 200 0 OK application/json []',
    'List {"shelf":"shelves/a"} -> 200 0 OK application/json {}',
  ],
  // Without a body its field is not set.
  'POST /v1/shelves/a/books': [
    'Add {"shelf":"shelves/a"} -> 200 0 OK application/json {"shelf":"shelves/a"}',
    'Add {"shelf":"shelves/a","book":{}} -> 200 0 OK application/json {"shelf":"shelves/a","book":{}}',
  ],
  // The order of members.
  'POST /v1/echo?18': [
    'Echo {"packed":{"typeUrl":"type.googleapis.com/shop.Book","value":{"type":"Buffer","data":[8,7]}}} -> 200 0 OK application/json {"packed":{"id":"7","@type":"type.googleapis.com/shop.Book"}}',
    'Echo {"packed":{"typeUrl":"type.googleapis.com/shop.Book","value":{"type":"Buffer","data":[8,7]}}} -> 200 0 OK application/json {"packed":{"@type":"type.googleapis.com/shop.Book","id":"7"}}',
  ],
};

describe('gRPC-JSON transcoding compared with Envoy', () => {
  let shop: ShopServer;
  let ours: DataPlane;
  let envoy: DataPlane;

  before(async function () {
    this.timeout(360_000);
    shop = await startShop();
    ours = await startOurs(shop.port);
    envoy = await startTheirs(shop.port);
  });
  after(async () => {
    await envoy?.close();
    await ours?.close();
    shop?.close();
  });

  for (const [line, asked] of Object.entries(CASES)) {
    it(line, async () => {
      const both = [await observe(ours, shop, [line, asked]), await observe(envoy, shop, [line, asked])];
      if (both[0] === both[1]) return;
      expect(both).to.deep.equal(DIFFERENCES[line]);
    });
  }
});

// Simulated proxies: subscribe to everything, and acknowledge what they receive without looking at it.
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Client, credentials, type ClientDuplexStream } from '@grpc/grpc-js';
import { toStruct } from '@edge-gateway/core/grpc';
import { RESOURCE_TYPES, TYPE } from '@edge-gateway/xds/resources';

const load = createRequire(join(import.meta.dirname, '../packages/xds/package.json'));
const { loadSync } = load('@grpc/proto-loader') as { loadSync(file: string, options: object): Record<string, unknown> };

interface Response {
  readonly type_url: string;
  readonly nonce: string;
}

const deps = join(dirname(load.resolve('@grpc/grpc-js-xds/package.json')), 'deps');
const loaded = loadSync('envoy/service/discovery/v3/ads.proto', {
  keepCase: true,
  longs: Number,
  defaults: true,
  includeDirs: ['envoy-api', 'xds', 'googleapis', 'protoc-gen-validate'].map((folder) => join(deps, folder)),
});
const service = loaded['envoy.service.discovery.v3.AggregatedDiscoveryService'] as unknown as Record<
  string,
  { path: string; requestSerialize: (value: object) => Buffer; responseDeserialize: (bytes: Buffer) => Response }
>;
const { path, requestSerialize, responseDeserialize } = service['DeltaAggregatedResources']!;

const [port, count, first] = process.argv.slice(2).map(Number) as [number, number, number];
let synchronized = 0;

/** Connects a node, and again after some time if the connection fails, as proxies do. */
function connect(id: string): void {
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), {
    'grpc.use_local_subchannel_pool': 1,
    'grpc.max_receive_message_length': 64 * 1024 * 1024,
  });
  const stream: ClientDuplexStream<object, Response> = client.makeBidiStreamRequest(
    path,
    requestSerialize,
    responseDeserialize,
  );
  let isSynchronized = false;
  stream.on('data', ({ type_url, nonce }: Response) => {
    stream.write({ type_url, response_nonce: nonce });
    if (isSynchronized || type_url !== TYPE.snapshot) return;
    isSynchronized = true;
    if (++synchronized === count) process.send?.('synchronized');
  });
  stream.on('error', () => {
    client.close();
    if (isSynchronized) synchronized--;
    setTimeout(connect, 500 + Math.random() * 2000, id);
  });
  for (const [place, type_url] of RESOURCE_TYPES.entries()) {
    const node = { id, metadata: toStruct({ role: 'gw-system~gateway-proxy' }) };
    stream.write({ type_url, ...(place === 0 && { node }) });
  }
}

for (let i = first; i < first + count; i++) connect(`node-${i}`);
process.on('disconnect', () => process.exit(0));

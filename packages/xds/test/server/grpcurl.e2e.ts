import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { skipWithoutGoProgram } from '../../../../test/parts/go-program.ts';
import { TYPE } from '../../src/resources/index.ts';
import { startServer } from '../planes.ts';
import { service, startStates } from '../states.ts';

const run = promisify(execFile);
const MODULE = 'github.com/fullstorydev/grpcurl/cmd/grpcurl@v1.9.3';
const DEPS = join(dirname(createRequire(import.meta.url).resolve('@grpc/grpc-js-xds/package.json')), 'deps');
const OWN = join(import.meta.dirname, '../../proto');

describe('the discovery server for grpcurl', () => {
  let states: Awaited<ReturnType<typeof startStates>>;
  let server: Awaited<ReturnType<typeof startServer>>;
  let program: string;
  before(async function () {
    program = await skipWithoutGoProgram(this, 'grpcurl', MODULE);
    server = await startServer();
    states = await startStates({ a: service('a', 'one') });
    server.publish(states.current());
  });
  after(async () => {
    server?.close();
    await states?.close();
  });

  async function call(method: string, request: object): Promise<any> {
    const paths = ['envoy-api', 'xds', 'googleapis', 'protoc-gen-validate'].map((name) => join(DEPS, name));
    const protos = ['envoy/service/discovery/v3/ads.proto', 'edge_gateway/config/v1/resources.proto'];
    const args = [
      ...[...paths, OWN].flatMap((path) => ['-import-path', path]),
      ...protos.flatMap((file) => ['-proto', file]),
      '-plaintext',
      '-max-time',
      '10',
      '-d',
      JSON.stringify(request),
      `127.0.0.1:${server.port}`,
      `envoy.service.discovery.v3.AggregatedDiscoveryService/${method}`,
    ];
    const { stdout } = await run(program, args);
    return JSON.parse(stdout);
  }
  const node = { id: 'grpcurl', metadata: { role: 'gw-system~gateway-proxy' } };
  const bodyOf = ({ json }: { json: string }) => JSON.parse(json).routes[0].action.body;

  it('responds in the state-of-the-world protocol', async () => {
    const { resources, typeUrl } = await call('StreamAggregatedResources', { node, type_url: TYPE.virtualHost });
    expect(typeUrl).to.equal(TYPE.virtualHost);
    expect(resources.map(bodyOf)).to.deep.equal(['one']);
  });

  it('responds in the delta protocol', async () => {
    const { resources } = await call('DeltaAggregatedResources', { node, type_url: TYPE.virtualHost });
    expect(resources.map(({ name }: any) => name)).to.deep.equal(['listener-::-8080/gw-system.a']);
    expect(bodyOf(resources[0].resource)).to.equal('one');
  });
});

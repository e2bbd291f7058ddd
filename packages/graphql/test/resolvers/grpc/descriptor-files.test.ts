import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createContext,
  createControlPlane,
  createMetrics,
  memorySource,
  silentLoggers,
  type ControlPlane,
  type MemorySource,
  type Metrics,
  type Responder,
  type SnapshotGraphQLApi,
} from '@edge-gateway/core';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { expect } from 'chai';
import protobuf from 'protobufjs';
import descriptor from 'protobufjs/ext/descriptor/index.js';
import { serveApi } from '../../../src/action.ts';
import { descriptorFiles } from '../../../src/index.ts';
import { ask, serve, type TestServer } from '../../servers.ts';
import { usersUpstream } from './server.ts';
import { until } from '../../../../../test/parts/until.ts';

const KEY = 'GraphQLApi/gw-system/users';

/** A service whose messages have these text fields, and which has these methods. */
function rootOf(fields: readonly string[], methods: readonly string[]): protobuf.Root {
  const method = { requestType: 'Search', responseType: 'User', comment: '' };
  return protobuf.Root.fromJSON({
    nested: {
      user: {
        options: { syntax: 'proto3' },
        nested: {
          Search: { fields: {} },
          User: { fields: Object.fromEntries(fields.map((name, i) => [name, { type: 'string', id: i + 1 }])) },
          Users: { methods: Object.fromEntries(methods.map((name) => [name, method])) },
        },
      },
    },
  });
}

function setOf(fields: readonly string[], methods: readonly string[]): Uint8Array {
  const set = (rootOf(fields, methods) as unknown as { toDescriptor(syntax: string): protobuf.Message }).toDescriptor(
    'proto3',
  );
  return descriptor.FileDescriptorSet.encode(set).finish();
}

const FIRST = setOf(['name'], ['Get']);
const SECOND = setOf(['name', 'email'], ['Get', 'Find']);

/** A service that gives both fields by both methods. */
async function startService(): Promise<Server & { readonly port: number }> {
  const user = rootOf(['name', 'email'], []).lookupType('user.User');
  const answer = Buffer.from(user.encode({ name: 'ann', email: 'ann@example.com' }).finish());
  const server = new Server();
  const handler = (_call: unknown, callback: (error: null, value: Buffer) => void) => callback(null, answer);
  const bytes = (value: Buffer): Buffer => value;
  for (const name of ['Get', 'Find']) {
    const path = `/user.Users/${name}`;
    const serialization = {
      requestSerialize: bytes,
      requestDeserialize: bytes,
      responseSerialize: bytes,
      responseDeserialize: bytes,
    };
    const definition = { path, requestStream: false, responseStream: false, ...serialization };
    server.addService({ [name]: definition } as never, { [name]: handler } as never);
  }
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, own) =>
      error ? reject(error) : resolve(own),
    );
  });
  return Object.assign(server, { port });
}

const resources = (method: string): string => `
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: v }
spec:
  virtualHost:
    domains: ['*']
    routes: [{ matchers: [{ prefix: / }], graphqlApiRef: { name: users } }]
---
apiVersion: graphql.gw.vendor.io/v1beta1
kind: GraphQLApi
metadata: { name: users }
spec:
  executableSchema:
    schemaDefinition: 'type Query { user: User @resolve(name: "user") } type User { name: String, email: String }'
    grpcDescriptorRegistry: { protoDescriptor: users.bin }
    executor:
      local:
        resolutions:
          user:
            grpcResolver:
              upstreamRef: { name: users }
              requestTransform: { serviceName: user.Users, methodName: ${method} }
---
apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: users }
spec: { static: { hosts: [{ addr: 127.0.0.1, port: 1 }] } }
`;

describe('descriptor files of a running API', () => {
  let directory: string;
  let service: Server & { readonly port: number };
  let metrics: Metrics;
  let source: MemorySource;
  let controlPlane: ControlPlane;
  let front: TestServer;
  let served: { readonly api: SnapshotGraphQLApi; readonly responder: Responder } | undefined;
  let replacements: number;

  before(async () => {
    service = await startService();
  });
  after(() => service.forceShutdown());
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'descriptor-files-'));
    metrics = createMetrics();
    served = undefined;
    replacements = 0;
  });
  afterEach(async () => {
    await front.close();
    await served?.responder.close?.();
    await controlPlane.close();
    rmSync(directory, { recursive: true });
  });

  function put(content: Uint8Array): void {
    writeFileSync(join(directory, 'users.bin.part'), content);
    renameSync(join(directory, 'users.bin.part'), join(directory, 'users.bin'));
  }

  /** Runs a control plane, and serves what its snapshots contain. */
  async function start(method = 'Get'): Promise<void> {
    source = memorySource({ a: resources(method) });
    controlPlane = createControlPlane({ source, metrics, log: silentLoggers, files: [descriptorFiles(directory)] });
    const context = createContext({ log: silentLoggers });
    const findUpstream = () => usersUpstream([service.port]);
    controlPlane.subscribe(({ snapshots }) => {
      const [listener] = snapshots.get('gateway-proxy')!.listeners;
      const [api] = listener!.virtualHosts[0]!.graphqlApis;
      if (!api || api === served?.api) return;
      void served?.responder.close?.();
      served = undefined;
      replacements++;
      served = { api, responder: serveApi(api, context, { findUpstream }).responder };
    });
    await controlPlane.start();
    front = await serve((req, res) => {
      const writeHead = (status: number, headers: readonly string[]) => void res.writeHead(status, [...headers]);
      if (!served) return void res.writeHead(500).end('{}');
      served.responder({ req, res, writeHead }, (error) => res.writeHead(500).end(String(error)));
    });
  }

  const user = async (): Promise<unknown> => (await ask(front.url, '{ user { name email } }')).body;
  const status = () => controlPlane.state!.statuses.get(KEY)!.statuses['gw-system']!;
  const count = (path: string): number =>
    (metrics.list().find(({ name }) => name.path === `descriptor_files.${path}`) as any).stat.value;
  const isServed = async (expected: object): Promise<boolean> =>
    JSON.stringify(await user()) === JSON.stringify({ data: { user: expected } });

  it('are served within 5 s after they change', async () => {
    put(FIRST);
    await start();
    expect(await user()).to.deep.equal({ data: { user: { name: 'ann', email: null } } });
    expect([status().state, replacements]).to.deep.equal(['Accepted', 1]);
    put(SECOND);
    await until(() => isServed({ name: 'ann', email: 'ann@example.com' }));
    expect([status().state, replacements, count('update_success')]).to.deep.equal(['Accepted', 2, 1]);
  });

  it('serve a method as soon as it is in them', async () => {
    put(SECOND);
    await start();
    source.set('a', resources('Find'));
    expect(await user()).to.deep.equal({ data: { user: { name: 'ann', email: 'ann@example.com' } } });
  });

  const invalid: Readonly<Record<string, readonly [content: Uint8Array, problem: string]>> = {
    'bytes that are not a descriptor set': [Buffer.from('not a descriptor set'), 'a descriptor set cannot be read'],
    'an empty file': [new Uint8Array(), 'the descriptors have no method user.Users/Get'],
    'a file without a method that the API calls': [
      setOf(['name'], ['Find']),
      'the descriptors have no method user.Users/Get',
    ],
    'half a file': [FIRST.subarray(0, FIRST.length / 2), 'a descriptor set cannot be read'],
  };
  for (const [name, [content, problem]] of Object.entries(invalid)) {
    it(`stay as they were when replaced by ${name}, with a warning until they are repaired`, async () => {
      put(FIRST);
      await start();
      put(content);
      await until(() => status().state === 'Warning');
      expect(status().reason).to.include(problem).and.to.include('the previous content stays in use');
      const issue = controlPlane.state!.issues.find(({ kind }) => kind === 'GraphQLApi');
      expect(issue!.path).to.deep.equal(['spec', 'executableSchema', 'grpcDescriptorRegistry', 'protoDescriptor']);
      expect(await user()).to.deep.equal({ data: { user: { name: 'ann', email: null } } });
      expect([replacements, count('update_rejected'), count('unusable')]).to.deep.equal([1, 1, 1]);
      put(SECOND);
      await until(() => isServed({ name: 'ann', email: 'ann@example.com' }));
      expect(status().state).to.equal('Accepted');
    });
  }

  it('stay as they were when they are deleted', async () => {
    put(FIRST);
    await start();
    rmSync(join(directory, 'users.bin'));
    await until(() => status().state === 'Warning');
    expect(status().reason).to.include("'users.bin' does not exist in the configuration directory");
    expect(await user()).to.deep.equal({ data: { user: { name: 'ann', email: null } } });
  });

  it('are named by the resource when they were never valid, and served once they are', async () => {
    await start();
    expect(status().state).to.equal('Rejected');
    expect(status().reason).to.include("'users.bin' does not exist in the configuration directory");
    expect(controlPlane.state!.issues[0]!.origin).to.include({ file: 'memory:a' });
    put(FIRST);
    await until(() => isServed({ name: 'ann', email: null }));
    expect(status().state).to.equal('Accepted');
  });

  for (const [name, [content, problem]] of Object.entries(invalid)) {
    it(`leave the last good API in place when its resource is changed to name ${name}`, async () => {
      put(FIRST);
      await start();
      writeFileSync(join(directory, 'other.bin'), content);
      source.set('a', resources('Get').replace('users.bin', 'other.bin'));
      expect(await user()).to.deep.equal({ data: { user: { name: 'ann', email: null } } });
      expect(replacements).to.equal(1);
      expect(status().reason).to.include(problem);
      const service = controlPlane.state!.statuses.get('VirtualService/gw-system/v')!.statuses['gw-system']!;
      expect(service.state).to.equal('Warning');
      expect(service.reason).to.include(problem).and.to.include('the route keeps its last good destination');
      source.set('a', resources('Get'));
      expect([status().state, replacements]).to.deep.equal(['Accepted', 1]);
    });
  }

  it('are not replaced when only another resource changes', async () => {
    put(FIRST);
    await start();
    source.set('b', resources('Get').split('---')[2]!.replace('name: users', 'name: other'));
    expect(replacements).to.equal(1);
  });
});

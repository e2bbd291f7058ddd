import { startTodos, startUsersGrpc } from '@edge-gateway/demo';
import {
  createControlPlane,
  keyOf,
  memorySource,
  severalSources,
  silentLoggers,
  type ResourceKey,
} from '@edge-gateway/core';
import type { ServiceSpec } from '@edge-gateway/core/schema';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { buildSchema, introspectionFromSchema } from 'graphql';
import { until } from '../../../../test/parts/until.ts';
import { createDiscovery } from '../../src/discover/running-discovery.ts';
import { createUrlCaller } from '../../src/resolvers/upstream-urls.ts';

const OPENAPI = {
  openapi: '3.0.0',
  paths: {
    '/a': {
      get: {
        operationId: 'a',
        responses: { 200: { content: { 'application/json': { schema: { type: 'string' } } } } },
      },
    },
  },
};

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

describe('the discovery loop', () => {
  const open: { close(): unknown }[] = [];
  afterEach(async () => {
    for (const each of open.splice(0).toReversed()) await each.close();
  });

  /** Control plane and discovery over upstreams by port. */
  async function start(
    ports: Record<string, number>,
    discovery: object | null = { fdsMode: 'BLACKLIST' },
    labels: Record<string, object> = {},
    leftFrom?: string,
    reachable = ports,
  ) {
    const functions: Record<string, ServiceSpec> = leftFrom ? { [leftFrom]: {} } : {};
    const written = memorySource();
    const made = memorySource();
    const controlPlane = createControlPlane({ source: severalSources([written, made]) });
    const caller = createUrlCaller(
      Object.fromEntries(Object.entries(reachable).map(([name, port]) => [name, `http://127.0.0.1:${port}`])),
    );
    const running = createDiscovery({
      callUpstream: caller.call,
      findUpstream: caller.find,
      secrets: { get: () => undefined },
      source: made,
      functions: {
        set: ({ name }, given) => void (functions[name] = given),
        delete: ({ name }) => void delete functions[name],
        ...(leftFrom && { hasDiscovered: ({ metadata }) => metadata.name === leftFrom && metadata.name in functions }),
      },
      observe: controlPlane.observe,
      log: silentLoggers.get('graphql'),
    });
    const settings = (spec: object) =>
      written.set('settings', { apiVersion: 'gw.vendor.io/v1', kind: 'Settings', metadata: { name: 'default' }, spec });
    settings(discovery === null ? {} : { discovery });
    const upstream = (name: string, port: number, serviceSpec?: ServiceSpec): void =>
      written.set(name, {
        apiVersion: 'gw.vendor.io/v1',
        kind: 'Upstream',
        metadata: { name, labels: labels[name] },
        spec: { static: { hosts: [{ addr: '127.0.0.1', port }], ...(serviceSpec && { serviceSpec }) } },
      });
    for (const [name, port] of Object.entries(ports)) upstream(name, port);
    open.push(caller, controlPlane, running);
    await controlPlane.start();
    controlPlane.subscribe((state) => running.update(state.resources));
    await running.look();
    const key = (name: string): ResourceKey => keyOf('GraphQLApi', { name, namespace: 'gw-system' });
    return {
      written,
      upstream,
      functions,
      settings,
      running,
      names: () =>
        [...controlPlane.state!.resources.values()]
          .filter(({ kind }) => kind === 'GraphQLApi')
          .map(({ metadata }) => metadata.name),
      spec: (name: string) => controlPlane.state!.resources.get(key(name))?.spec as any,
      status: (name: string) => controlPlane.state!.statuses.get(key(name))?.statuses['gw-system'],
    };
  }

  async function openApiServer(document: object | string = OPENAPI): Promise<number> {
    const text = typeof document === 'string' ? document : JSON.stringify(document);
    const server = createServer((req, res) => {
      res.writeHead(req.url === '/openapi.json' ? 200 : 404).end(req.url === '/openapi.json' ? text : '');
    });
    open.push({ close: () => server.closeAllConnections() ?? server.close() });
    return listening(server);
  }

  it('reports the number of skipped operations in the status', async () => {
    const { get } = OPENAPI.paths['/a'];
    const paths = Object.fromEntries(
      Array.from({ length: 5001 }, (_, i) => [`/p${i}`, { get: { ...get, operationId: `op${i}` } }]),
    );
    const { spec, status } = await start({ many: await openApiServer({ openapi: '3.0.0', paths }) });
    expect(Object.keys(spec('many').executableSchema.executor.local.resolutions)).to.have.length(5000);
    expect(JSON.stringify(status('many'))).to.include('there are 5001 operations; the first 5000 are offered');
  }).timeout(60_000);

  it('goes on after a document that is nested too deeply', async () => {
    const depth = 200_000;
    const deep = `{ "openapi": "3.0.0", "paths": {}, "x-deep": ${'['.repeat(depth)}${']'.repeat(depth)} }`;
    for (const discovery of [
      { fdsMode: 'BLACKLIST' },
      { fdsMode: 'BLACKLIST', fdsOptions: { graphqlEnabled: false } },
    ]) {
      const { functions } = await start({ deep: await openApiServer(deep), pets: await openApiServer() }, discovery);
      expect(Object.keys(functions)).to.deep.equal(['pets']);
    }
  }).timeout(60_000);

  it('creates APIs of a GraphQL server, an OpenAPI document and a gRPC service', async () => {
    const [todos, users] = [await startTodos(), await startUsersGrpc()];
    open.push(todos, users);
    const { names, spec, status } = await start({
      todos: todos.port,
      users: users.port,
      pets: await openApiServer(),
      dead: 1,
    });
    expect(names().sort()).to.deep.equal(['pets', 'todos', 'users']);
    expect(spec('todos').executableSchema.executor.remote.upstreamRef.name).to.equal('todos');
    expect(spec('users').executableSchema.schemaDefinition).to.include('GetUser(user_search: UserSearchInput): User');
    expect(spec('pets').executableSchema.executor.local.resolutions).to.have.property('Query|a');
    expect(status('todos')!.state).to.equal('Accepted');
  });

  for (const [name, discovery, labels, found] of [
    ['probes only labelled upstreams with WHITELIST', { fdsMode: 'WHITELIST' }, { b: 'enabled' }, ['b']],
    ['probes all but labelled ones with BLACKLIST', { fdsMode: 'BLACKLIST' }, { b: 'disabled' }, ['a']],
    ['probes none when it is DISABLED', { fdsMode: 'DISABLED' }, { b: 'enabled' }, []],
    ['probes none when GraphQL is off', { fdsOptions: { graphqlEnabled: false } }, { b: 'enabled' }, []],
    ['probes only labelled upstreams without Settings', null, { b: 'enabled' }, ['b']],
  ] as const) {
    it(name, async () => {
      const port = await openApiServer();
      const label = 'discovery.vendor.io/function_discovery';
      const running = await start(
        { a: port, b: port },
        discovery,
        Object.fromEntries(Object.entries(labels).map(([upstream, value]) => [upstream, { [label]: value }])),
      );
      expect(running.names()).to.deep.equal(found);
    });
  }

  it('warns of a parameter that sets a granted header, and withholds it from when it is granted', async () => {
    const parameters = ['X-Tenant', 'X-User-Id'].map((name) => ({ in: 'header', name }));
    const document = { ...OPENAPI, paths: { '/a': { get: { ...OPENAPI.paths['/a'].get, parameters } } } };
    const running = await start({ a: await openApiServer(document) });
    running.settings({
      discovery: { fdsMode: 'BLACKLIST' },
      graphqlOptions: { schemaChangeValidationOptions: { rejectBreakingChanges: true } },
    });
    await running.running.look();
    expect(running.spec('a').executableSchema.schemaDefinition).to.include('a(XTenant: String): String');
    expect(running.status('a')).to.include({ state: 'Warning' });
    expect(running.status('a')!.reason).to.include("GET /a: header parameter 'X-User-Id': only the gateway may set");
    running.written.set('auth', {
      apiVersion: 'enterprise.gw.vendor.io/v1',
      kind: 'AuthConfig',
      metadata: { name: 'auth' },
      spec: { configs: [{ apiKeyAuth: { headersFromMetadata: { x_tenant: { name: 'tenant' } } } }] },
    });
    // Without a look asked for: the next one by the clock may be far away.
    const schema = (): string => running.spec('a').executableSchema.schemaDefinition;
    await until(() => !schema().includes('XTenant'));
    expect(schema()).to.include('a: String');
    expect(running.status('a')!.reason).to.include("GET /a: header parameter 'X-Tenant': only the gateway may set");
  });

  it('removes an API with its upstream, and when discovery is disabled', async () => {
    const port = await openApiServer();
    const running = await start({ a: port, b: port });
    running.written.delete('a');
    expect(running.names()).to.deep.equal(['b']);
    running.settings({ discovery: { fdsMode: 'DISABLED' } });
    expect(running.names()).to.deep.equal([]);
  });

  it('does not replace a configured API of the same name', async () => {
    const running = await start({ a: await openApiServer() });
    running.written.set('own', {
      apiVersion: 'graphql.gw.vendor.io/v1beta1',
      kind: 'GraphQLApi',
      metadata: { name: 'b' },
      spec: { executableSchema: { schemaDefinition: 'type Query { own: Int }', executor: { local: {} } } },
    });
    running.written.set('b', {
      apiVersion: 'gw.vendor.io/v1',
      kind: 'Upstream',
      metadata: { name: 'b' },
      spec: { static: { hosts: [{ addr: '127.0.0.1', port: 1 }] } },
    });
    await running.running.look();
    expect(running.spec('b').executableSchema.schemaDefinition).to.equal('type Query { own: Int }');
  });

  for (const [rejectBreakingChanges, schema] of [
    [false, 'type Query {\n  a: String\n}'],
    [true, 'type Query {\n  a: Int\n}'],
  ] as const) {
    it(`reports a breaking change in the status, rejectBreakingChanges ${rejectBreakingChanges}`, async () => {
      let type = 'Int';
      const server = createServer((_req, res) => {
        res.end(JSON.stringify({ data: introspectionFromSchema(buildSchema(`type Query { a: ${type} }`)) }));
      });
      open.push({ close: () => server.closeAllConnections() ?? server.close() });
      const running = await start({ a: await listening(server) });
      running.settings({
        discovery: { fdsMode: 'BLACKLIST' },
        graphqlOptions: { schemaChangeValidationOptions: { rejectBreakingChanges } },
      });
      type = 'String';
      await running.running.look();
      expect(running.spec('a').executableSchema.schemaDefinition).to.equal(schema);
      expect(running.status('a')!.state).to.equal(rejectBreakingChanges ? 'Rejected' : 'Warning');
      expect(running.status('a')!.reason).to.include("breaking: Field 'Query.a' changed type from 'Int' to 'String'");
      type = 'Int';
      await running.running.look();
      if (rejectBreakingChanges) expect(running.status('a')!.state).to.equal('Accepted');
    });
  }

  describe('of functions', () => {
    const transcoder = ({ users }: Record<string, ServiceSpec>) => users!.grpcJsonTranscoder!;

    it('reports those of an OpenAPI document and of a gRPC service', async () => {
      const [todos, users] = [await startTodos(), await startUsersGrpc()];
      open.push(todos, users);
      const { functions } = await start({ todos: todos.port, users: users.port, pets: await openApiServer(), dead: 1 });
      expect(Object.keys(functions).sort()).to.deep.equal(['pets', 'users']);
      expect(Object.keys(functions['pets']!.rest!.transformations!)).to.deep.equal(['a']);
      expect(transcoder(functions).services).to.deep.equal(['user.UserService']);
      expect(Buffer.from(transcoder(functions).protoDescriptorBin!, 'base64').toString('latin1')).to.include('GetUser');
    });

    it('reports them without GraphQL, and beside a GraphQLApi of somebody else', async () => {
      const port = await openApiServer();
      const off = { fdsMode: 'BLACKLIST', fdsOptions: { graphqlEnabled: false } };
      const without = await start({ pets: port }, off);
      expect(Object.keys(without.functions)).to.deep.equal(['pets']);
      expect(without.names()).to.deep.equal([]);
      const beside = await start({}, undefined, {}, undefined, { pets: port });
      beside.written.set('api', {
        apiVersion: 'graphql.gw.vendor.io/v1beta1',
        kind: 'GraphQLApi',
        metadata: { name: 'pets' },
        spec: { executableSchema: { schemaDefinition: 'type Query { a: Int }', executor: { local: {} } } },
      });
      beside.upstream('pets', port);
      await beside.running.look();
      expect(Object.keys(beside.functions)).to.deep.equal(['pets']);
      expect(beside.spec('pets').executableSchema.schemaDefinition).to.equal('type Query { a: Int }');
    });

    it('follows changes of the document, keeps functions while the server fails, and removes them', async () => {
      const document: { openapi: string; paths: Record<string, object> } = structuredClone(OPENAPI);
      let fails = false;
      const server = createServer((req, res) => {
        if (fails || req.url !== '/openapi.json') return void res.writeHead(503).end();
        res.end(JSON.stringify(document));
      });
      open.push({ close: () => server.closeAllConnections() ?? server.close() });
      const { functions, running, settings } = await start({ pets: await listening(server) });
      const names = () => Object.keys(functions['pets']?.rest?.transformations ?? {});
      document.paths['/b'] = { get: { operationId: 'b' } };
      await running.look();
      expect(names()).to.deep.equal(['a', 'b']);
      document.openapi = '4.0';
      await running.look();
      expect(names()).to.deep.equal(['a', 'b']);
      document.openapi = '3.0.0';
      document.paths['/d'] = { get: { operationId: 'd' } };
      await running.look();
      expect(names()).to.deep.equal(['a', 'b', 'd']);
      fails = true;
      await running.look();
      expect(names()).to.deep.equal(['a', 'b', 'd']);
      fails = false;
      document.paths = {};
      await running.look();
      expect(functions).to.deep.equal({});
      document.paths['/c'] = { get: { operationId: 'c' } };
      // Upstreams without functions are not asked in every round.
      for (let round = 0; round < 4; round++) await running.look();
      expect(names()).to.deep.equal(['c']);
      settings({ discovery: { fdsMode: 'DISABLED' } });
      expect(functions).to.deep.equal({});
    });

    it('reports those of the document of a GraphQL server only if no GraphQLApi is created', async () => {
      const introspection = { data: introspectionFromSchema(buildSchema('type Query { a: Int }')) };
      const server = createServer((req, res) => {
        res.end(JSON.stringify(req.url === '/openapi.json' ? OPENAPI : introspection));
      });
      open.push({ close: () => server.closeAllConnections() ?? server.close() });
      const port = await listening(server);
      const off = await start({ both: port }, { fdsMode: 'BLACKLIST', fdsOptions: { graphqlEnabled: false } });
      expect([Object.keys(off.functions), off.names()]).to.deep.equal([['both'], []]);
      const on = await start({ both: port });
      expect([Object.keys(on.functions), on.names()]).to.deep.equal([[], ['both']]);
      on.settings({ discovery: { fdsMode: 'BLACKLIST', fdsOptions: { graphqlEnabled: false } } });
      expect(on.names()).to.deep.equal([]);
    });

    it('reports those of a changed Upstream again, and does not ask again because functions have changed', async () => {
      let requests = 0;
      const server = createServer((req, res) => {
        if (req.url !== '/openapi.json') return void res.writeHead(404).end();
        requests++;
        res.end(JSON.stringify(OPENAPI));
      });
      open.push({ close: () => server.closeAllConnections() ?? server.close() });
      const port = await listening(server);
      const { functions, running, upstream } = await start({ pets: port }, undefined, {}, 'pets');
      const names = () => Object.keys(functions['pets']?.rest?.transformations ?? {});
      expect(names()).to.deep.equal(['a']);
      delete functions['pets'];
      requests = 0;
      upstream('pets', port, { rest: { transformations: { mine: { headers: { ':path': { text: '/mine' } } } } } });
      expect(names()).to.deep.equal(['a']);
      await running.look();
      expect(requests).to.equal(1);
      upstream('pets', port, { rest: { swaggerInfo: { url: '/openapi.json' } } });
      await running.look();
      // Once because the place of the document has changed.
      expect(requests).to.equal(3);
    });

    it('removes those that an earlier process has written to an upstream that is no longer asked', async () => {
      const { functions } = await start({ pets: await openApiServer() }, { fdsMode: 'DISABLED' }, {}, 'pets');
      expect(functions).to.deep.equal({});
    });
  });
});

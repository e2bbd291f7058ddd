import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { buildSchema, graphqlSync } from 'graphql';
import { GatewayProcess, until } from './gateway-process.ts';

const BEFORE = 'type Query { title: String pages: Int }';
const AFTER = 'type Query { title: String year: Int }';

const settings = (rejectBreakingChanges: boolean, more = ''): string => `
apiVersion: settings.gw.vendor.io/v1
kind: Settings
metadata: { name: default, namespace: gw-system }
spec:
  graphqlOptions: { schemaChangeValidationOptions: { rejectBreakingChanges: ${rejectBreakingChanges} } }
${more}`;

const api = (name: string, definition = ''): string => `
apiVersion: graphql.gw.vendor.io/v1beta1
kind: GraphQLApi
metadata: { name: ${name}, namespace: gw-system }
spec:
  executableSchema:${definition}
    executor: { remote: { upstreamRef: { name: books, namespace: gw-system } } }
---`;

const resources = (port: number): string => `
apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: books, namespace: gw-system }
spec: { static: { hosts: [{ addr: 127.0.0.1, port: ${port} }] } }
---${api('declared', `\n    schemaDefinition: '${BEFORE}'`)}${api('asked')}
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: books, namespace: gw-system }
spec:
  virtualHost:
    domains: ['*']
    routes:
      - matchers: [{ prefix: /declared }]
        graphqlApiRef: { name: declared, namespace: gw-system }
        options: { prefixRewrite: /query }
      - matchers: [{ prefix: /asked }]
        graphqlApiRef: { name: asked, namespace: gw-system }
        options: { prefixRewrite: /query }
`;

describe('the schema of a GraphQL server behind the gateway', () => {
  const gateway = new GatewayProcess();
  let schema = buildSchema(BEFORE);
  let server: Server;
  const port = () => (server.address() as AddressInfo).port;

  before(async () => {
    server = createServer(async (req, res) => {
      if (req.url !== '/query') return void res.writeHead(404).end();
      let body = '';
      for await (const chunk of req) body += chunk;
      res.end(JSON.stringify(graphqlSync({ schema, source: JSON.parse(body).query })));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    gateway.write('resources.yaml', resources(port()));
    gateway.write('settings.yaml', settings(true));
    await gateway.start();
  });
  after(async () => {
    await gateway.close();
    server.closeAllConnections();
    server.close();
  });

  async function statusOf(name: string): Promise<{ state: string; reason?: string }> {
    const { data } = (await (await fetch(`${gateway.stats}/snapshots/input`)).json()) as { data: any[] };
    const found = data.find(({ kind, metadata }) => kind === 'GraphQLApi' && metadata.name === name);
    return found.status.statuses['gw-system'];
  }

  async function ask(path: string, query: string): Promise<number> {
    const response = await fetch(gateway.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    });
    await response.text();
    return response.status;
  }

  it('reports breaking changes in the status, and is not applied where they are rejected', async () => {
    expect(await ask('/asked', '{ pages }')).to.equal(200);
    expect((await statusOf('declared')).state).to.equal('Accepted');
    schema = buildSchema(AFTER);
    gateway.write(
      'resources.yaml',
      resources(port()).replace('name: books,', 'name: books, labels: { release: two },'),
    );
    await until(async () => (await statusOf('asked')).state === 'Rejected', 'the status');
    await until(async () => (await statusOf('declared')).state === 'Rejected', 'the status');
    for (const name of ['asked', 'declared']) {
      const { state, reason } = await statusOf(name);
      expect(state, name).to.equal('Rejected');
      expect(reason).to.include("breaking: Field 'pages' was removed from object type 'Query'");
      expect(reason).to.include('so the change is rejected');
    }
    expect(await ask('/asked', '{ year }')).to.equal(400);
  });

  it('is applied with a warning where breaking changes are allowed', async () => {
    gateway.write('settings.yaml', settings(false));
    await until(async () => (await ask('/asked', '{ year }')) === 200, 'the newer schema');
    expect((await statusOf('asked')).state).to.equal('Warning');
    expect((await statusOf('declared')).state).to.equal('Warning');
    expect(await ask('/asked', '{ pages }')).to.equal(400);
    expect(await ask('/declared', '{ year }')).to.equal(400);
  });

  it('is shown by the explorer, which sends requests to the path of the route', async () => {
    const response = await fetch(`${gateway.admin}/graphql/gw-system/asked/query`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: '{ __type(name: "Query") { fields { name } } }' }),
    });
    const names = ['title', 'year'].map((name) => ({ name }));
    expect(await response.json()).to.deep.equal({ data: { __type: { fields: names } } });
    expect((await fetch(`${gateway.url}/graphql/gw-system/asked`)).status).to.equal(404);
  });

  it('is not shown without the explorer, which Settings disable at run time', async () => {
    const statusOfExplorer = async (): Promise<number> =>
      (await fetch(`${gateway.admin}/graphql/gw-system/asked`)).status;
    expect(await statusOfExplorer()).to.equal(200);
    gateway.write('settings.yaml', settings(false, '  consoleOptions: { apiExplorerEnabled: false }\n'));
    await until(async () => (await statusOfExplorer()) === 404, 'the explorer is gone');
    const query = { method: 'POST', body: '{"query":"{title}"}', headers: { 'content-type': 'application/json' } };
    expect((await fetch(`${gateway.admin}/graphql/gw-system/asked/query`, query)).status).to.equal(404);
    expect(await ask('/asked', '{ year }')).to.equal(200);
    gateway.write('settings.yaml', settings(false));
    await until(async () => (await statusOfExplorer()) === 200, 'the explorer is back');
  });

  it('reports each change in the log and the statistics', async () => {
    const lines = (gateway.output + gateway.errors)
      .split('\n')
      .filter((line) => line.includes('schema of remote server changed'));
    expect(lines.join('\n')).to.include('pages').and.include('gw-system.asked').and.include('gw-system.declared');
    const stats = await (await fetch(`${gateway.admin}/stats/prometheus`)).text();
    expect(stats).to.match(/^envoy_gw_system_asked_graphql_schema_changes_breaking(\{\})? 1$/m);
  });
});

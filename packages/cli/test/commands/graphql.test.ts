import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { call } from '../support/captured-io.ts';

const API = `apiVersion: graphql.gw.vendor.io/v1beta1
kind: GraphQLApi
metadata: { name: books, namespace: gw-system }
spec:
  executableSchema:
    schemaDefinition: |
      type Query { book(id: ID!): Book @resolve(name: "Query|book") books: [Book] @resolve(name: "Query|books") }
      type Book { id: ID title: String reviews: [String] @resolve(name: reviews) }
    executor:
      local:
        resolutions:
          Query|book: { restResolver: { upstreamRef: { name: shop }, request: { headers: { ':path': '/books/{$args.id}' } } } }
          Query|books: { restResolver: { upstreamRef: { name: shop }, request: { headers: { ':path': /books }, queryParams: { all: 'yes' } } } }
          reviews: { restResolver: { upstreamRef: { name: shop }, request: { headers: { ':path': '/reviews/{$parent.id}' } } } }
---
apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: shop, namespace: gw-system }
spec: { static: { hosts: [{ addr: 127.0.0.1, port: 1 }] } }
`.replace('@resolve(name: reviews)', '@resolve(name: "reviews")');
const OPENAPI = `openapi: 3.0.0
paths:
  /pets/{id}:
    get:
      operationId: getPet
      parameters: [{ in: path, name: id, required: true, schema: { type: string } }]
      responses: { 200: { content: { application/json: { schema: { properties: { name: { type: string } } } } } } }
  /xml:
    get: { responses: { 200: { content: { text/xml: {} } } } }
`;

describe('GraphQL commands', () => {
  let cwd: string;
  beforeEach(() => {
    cwd = mkdtempSync(join(tmpdir(), 'cli-graphql-'));
    mkdirSync(join(cwd, 'resources'));
    writeFileSync(join(cwd, 'resources', 'api.yaml'), API);
    writeFileSync(join(cwd, 'openapi.yaml'), OPENAPI);
  });
  afterEach(() => rmSync(cwd, { recursive: true }));
  const run = (...argv: string[]) => call(argv, { cwd });
  const check = (schema: string, ...argv: string[]) => {
    writeFileSync(join(cwd, 'schema.graphql'), schema);
    return run('graphql', 'check', 'schema.graphql', '-c', 'resources', ...argv);
  };
  const SAME = 'type Query { book(id: ID!): Book books: [Book] } type Book { id: ID title: String reviews: [String] }';

  it('get graphqlapis shows type and resolvers', async () => {
    const { code, stdout } = await run('get', 'graphqlapis', '-c', 'resources');
    expect(code).to.equal(0);
    expect(stdout).to.match(/\| books +\| Local +\| .*\| REST resolvers: 3 \|/);
  });

  it('explain --graphql says who asks what, and how often', async () => {
    const query = '{ book(id: "7/8") { title } books { r: reviews } }';
    const { code, stdout } = await run('explain', '--graphql', query, '-c', 'resources', '-o', 'json');
    expect(code).to.equal(0);
    expect(JSON.parse(stdout)).to.deep.equal([
      { path: 'book', resolver: 'Query|book', upstream: 'shop', request: 'GET /books/7%2F8', times: 'once' },
      { path: 'books', resolver: 'Query|books', upstream: 'shop', request: 'GET /books?all=yes', times: 'once' },
      {
        path: 'books.r',
        resolver: 'reviews',
        upstream: 'shop',
        request: 'GET /reviews/{$parent.id}',
        times: 'once for each of books',
      },
    ]);
  });

  it('explain --graphql refuses what does not fit the schema', async () => {
    const { code, stderr } = await run('explain', '--graphql', '{ nothing }', '-c', 'resources');
    expect(code).to.equal(2);
    expect(stderr).to.include('Cannot query field "nothing"');
  });

  it('graphql check passes a schema that breaks nothing', async () => {
    const { code, stdout, stderr } = await check(SAME.replace('title: String', 'title: String pages: Int'));
    expect({ code, stdout, stderr }).to.deep.equal({
      code: 0,
      stdout: "safe       Field 'pages' was added to object type 'Book'\n",
      stderr: '1 change, none breaking\n',
    });
  });

  it('graphql check fails on a breaking change', async () => {
    const { code, stdout, stderr } = await check(SAME.replace('title: String', ''), '--api', 'gw-system/books');
    expect({ code, stdout, stderr }).to.deep.equal({
      code: 1,
      stdout: "breaking   Field 'title' was removed from object type 'Book'\n",
      stderr: '1 change, 1 breaking\n',
    });
  });

  for (const [name, argv, problem] of [
    ['a missing file', ['none.graphql'], /no such file/],
    ['a file that is no schema', ['openapi.yaml'], /openapi\.yaml: Syntax Error/],
    ['an unknown API', ['openapi.yaml', '--api', 'boks'], /no GraphQLApi boks/],
  ] as const) {
    it(`graphql check refuses ${name} in one line`, async () => {
      const { code, stderr } = await run('graphql', 'check', ...argv, '-c', 'resources');
      expect(code).to.be.oneOf([1, 2]);
      expect(stderr).to.match(problem);
      expect(stderr.trim().split('\n')).to.have.lengthOf(1);
    });
  }

  it('create graphqlapi writes an API of an OpenAPI document and names what it skipped', async () => {
    const { code, stdout, stderr } = await run(
      'create',
      'graphqlapi',
      'pets',
      '--from-openapi',
      'openapi.yaml',
      '-c',
      'resources',
    );
    expect({ code, stdout, stderr }).to.deep.equal({
      code: 0,
      stdout: 'GraphQLApi pets: 1 fields of upstream pets\n',
      stderr: 'skipped GET /xml: its answer is not JSON\n',
    });
    const file = readdirSync(join(cwd, 'resources')).find((name) => name !== 'api.yaml');
    expect(readFileSync(join(cwd, 'resources', file!), 'utf8')).to.include('getPet(id: String!): GetPetResult');
  });

  it('create graphqlapi reads a document from a URL', async () => {
    const server = createServer((_req, res) => res.end(OPENAPI));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/openapi.yaml`;
    const { code, stdout } = await run('create', 'graphqlapi', 'pets', '--from-openapi', url, '--dry-run');
    server.close();
    expect(code).to.equal(0);
    expect(stdout).to.include('kind: GraphQLApi');
    const gone = await run('create', 'graphqlapi', 'pets', '--from-openapi', url, '--dry-run');
    expect(gone.stderr).to.match(/cannot be read/);
  });

  it('create graphqlapi refuses what is no OpenAPI document', async () => {
    const { code, stderr } = await run(
      'create',
      'graphqlapi',
      'pets',
      '--from-openapi',
      'resources/api.yaml',
      '--dry-run',
    );
    expect(code).to.equal(2);
    expect(stderr.trim().split('\n')).to.have.lengthOf(1);
  });
});

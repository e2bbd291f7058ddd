import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { answer, at } from '../support/answering-server.ts';
import { call } from '../support/captured-io.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

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
describe('GraphQL commands', () => {
  let cwd: string;
  beforeEach(() => {
    cwd = temporaryDirectory();
    mkdirSync(join(cwd, 'resources'));
    writeFileSync(join(cwd, 'resources', 'api.yaml'), API);
    writeFileSync(join(cwd, 'openapi.yaml'), 'openapi: 3.0.0\n');
    writeFileSync(join(cwd, 'mistake.graphql'), 'type Query {\n  a: Bok\n}\n');
  });
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

  it('explain --graphql lists the calls to upstreams and how often they are made', async () => {
    const query = '{ book(id: "7/8") { title } books { r: reviews } }';
    const { code, stdout } = await run('explain', '--graphql', query, '-c', 'resources', '-o', 'json');
    expect(code).to.equal(0);
    expect(JSON.parse(stdout)).to.deep.equal([
      { path: 'book', resolver: 'Query|book', upstream: 'shop', request: 'GET /books/7%2F8', times: 'once' },
      { path: 'books', resolver: 'Query|books', upstream: 'shop', request: 'GET /books?all=<redacted>', times: 'once' },
      {
        path: 'books.r',
        resolver: 'reviews',
        upstream: 'shop',
        request: 'GET /reviews/{$parent.id}',
        times: 'once for each of books',
      },
    ]);
  });

  it('explain --graphql counts a request for many keys once for so many', async () => {
    const batch = "{ restResolver: { batch: { key: '{$parent.id}', maxKeys: 50 }, ";
    const batched = API.replace('reviews: { restResolver: { ', `reviews: ${batch}`).replace(
      '/reviews/{$parent.id}',
      '/reviews?ids={$batch.keys}',
    );
    writeFileSync(join(cwd, 'resources', 'api.yaml'), batched);
    const { stdout } = await run('explain', '--graphql', '{ books { reviews } }', '-c', 'resources', '-o', 'json');
    expect(JSON.parse(stdout)[1]).to.include({
      request: 'GET /reviews?ids={$batch.keys}',
      times: 'once for every 50 of books',
    });
  });

  it('explain --graphql rejects an operation that does not match the schema', async () => {
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
    ['a file that is not a schema', ['openapi.yaml'], /openapi\.yaml:1:1: Syntax Error/],
    ['a file whose schema has a mistake', ['mistake.graphql'], /mistake\.graphql:2:6: Unknown type "Bok"/],
    ['an unknown API', ['openapi.yaml', '--api', 'boks'], /no GraphQLApi boks/],
  ] as const) {
    it(`graphql check rejects ${name} in one line`, async () => {
      const { code, stderr } = await run('graphql', 'check', ...argv, '-c', 'resources');
      expect(code).to.be.oneOf([1, 2]);
      expect(stderr).to.match(problem);
      expect(stderr.trim().split('\n')).to.have.lengthOf(1);
    });
  }

  describe('of a server that declares no schema', () => {
    const asked = { executor: { remote: { upstreamRef: { name: 'shop' } } } };
    const object = (name: string, spec: object) => ({
      apiVersion: 'graphql.gw.vendor.io/v1beta1',
      kind: 'GraphQLApi',
      metadata: { name, namespace: 'gw-system' },
      spec,
    });
    const ref = { name: 'asked', namespace: 'gw-system' };
    const told = 'type Query { book(id: ID!): Book }\ntype Book { id: ID title: String }';
    const subschemas = [{ ref, spec: { executableSchema: asked }, serverSchema: told, subschemas: [] }];
    const graphqlApis = [{ ref: { ...ref, name: 'joined' }, spec: {}, subschemas }];
    const pages = {
      '/snapshots/input': {
        data: [
          object('asked', { executableSchema: asked }),
          object('joined', { stitchedSchema: { subschemas: [{ name: 'asked' }] } }),
        ],
      },
      '/snapshots/xds': {
        data: { 'gw-system~gateway-proxy': { listeners: [{ virtualHosts: [{ graphqlApis }] }], upstreams: [] } },
      },
    };

    for (const api of ['asked', 'joined']) {
      it(`graphql check and explain use the schema that the gateway read from the server, API ${api}`, async () => {
        const server = await answer(pages);
        writeFileSync(join(cwd, 'schema.graphql'), 'type Query { book(id: ID!): Book } type Book { id: ID }');
        const flags = ['--api', api, ...at(server)];
        const checked = await run('graphql', 'check', 'schema.graphql', ...flags);
        const explained = await run('explain', '--graphql', '{ book(id: 1) { title } }', '-o', 'json', ...flags);
        await server.close();
        expect(checked.code).to.equal(1);
        expect(checked.stdout).to.equal("breaking   Field 'title' was removed from object type 'Book'\n");
        expect(JSON.parse(explained.stdout)).to.have.nested.property('[0].upstream', 'shop');
      });
    }

    it('explain and graphql check reject an API whose schema is not known', async () => {
      const server = await answer({ ...pages, '/snapshots/xds': { data: {} } });
      const { code, stderr } = await run('explain', '--graphql', '{ a }', '--api', 'asked', ...at(server));
      await server.close();
      expect(code).to.equal(2);
      expect(stderr).to.include('GraphQLApi gw-system/asked has no schemaDefinition');
    });
  });
});

import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { buildSchema, validateSchema } from 'graphql';
import { expect } from 'chai';
import { createContext } from '@edge-gateway/core';
import { createApi } from '../../src/create-api.ts';
import { discover } from '../../src/discover/discover.ts';
import type { Discovery } from '../../src/discover/discovered-api.ts';
import { DEFAULT_LIMITS } from '../../src/document/limits.ts';
import { createApiCounts } from '../../src/observe/statistics.ts';
import { cpuTime } from '../cpu-time.ts';

const context = createContext();

const upstream = { name: 'petstore', namespace: 'gw-system' };
const DIRECTIVE = 'directive @resolve(name: String) on FIELD_DEFINITION\n';

function documents(): { readonly name: string; readonly document: { readonly paths?: object } }[] {
  const root = dirname(createRequire(import.meta.url).resolve('@readme/oas-examples/package.json'));
  return ['2.0', '3.0', '3.1'].flatMap((version) => {
    const directory = join(root, version, 'json');
    return (readdirSync(directory, { recursive: true }) as string[])
      .filter((name) => name.endsWith('.json'))
      .map((name) => ({
        name: `${version}/${name}`,
        document: JSON.parse(readFileSync(join(directory, name), 'utf8')),
      }));
  });
}

function discovered(paths: object, more: object = {}): Discovery {
  return discover(upstream, { type: 'openapi', document: { openapi: '3.0.0', paths, ...more } });
}

describe('discovery of an OpenAPI document', () => {
  it('survives every published document of the test set', () => {
    const all = documents().filter(({ document }) => Object.keys(document.paths ?? {}).length > 0);
    expect(all.length).to.be.at.least(30);
    for (const { name, document } of all) {
      const { spec } = discover(upstream, { type: 'openapi', document });
      const schema = buildSchema(DIRECTIVE + spec.executableSchema!.schemaDefinition!);
      expect(validateSchema(schema), name).to.deep.equal([]);
    }
  });

  it('makes getPetById(petId:) of the pet store', () => {
    const { document } = documents().find(({ name }) => name === '3.0/petstore.json')!;
    const { spec } = discover(upstream, { type: 'openapi', document });
    expect(spec.executableSchema!.schemaDefinition).to.include(
      'getPetById(petId: JSON!): Pet @resolve(name: "Query|getPetById")',
    );
    expect(
      spec.executableSchema!.executor!.local!.resolutions!['Query|getPetById']!.restResolver!.request,
    ).to.deep.equal({
      headers: { ':method': 'GET', ':path': '/v2/pet/{$args.petId}' },
    });
    expect(spec.executableSchema!.executor!.local!.enableIntrospection).to.equal(true);
  });

  it('sends parameters and bodies as the operation declares them', () => {
    const { spec } = discovered({
      '/a/{id}': {
        parameters: [{ in: 'path', name: 'id', required: true, schema: { type: 'string' } }],
        post: {
          operationId: 'add-one',
          parameters: [
            { in: 'query', name: 'dry-run', schema: { type: 'boolean' } },
            { in: 'header', name: 'X-Trace', schema: { type: 'string' } },
            { in: 'header', name: 'Authorization', schema: { type: 'string' } },
          ],
          requestBody: {
            content: {
              'application/json': {
                schema: { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } },
              },
            },
          },
          responses: { 201: { content: { 'application/json': { schema: { type: 'string' } } } } },
        },
      },
    });
    expect(spec.executableSchema!.schemaDefinition).to.include(
      'addOne(dryRun: Boolean, XTrace: String, id: String!, input: AddOneBodyInput): String',
    );
    expect(
      spec.executableSchema!.executor!.local!.resolutions!['Mutation|addOne']!.restResolver!.request,
    ).to.deep.equal({
      headers: { ':method': 'POST', ':path': '/a/{$args.id}', 'x-trace': '{$args.XTrace}' },
      queryParams: { 'dry-run': '{$args.dryRun}' },
      body: '{$args.input}',
    });
  });

  it('does not offer header parameters that identify the client, and reports them', () => {
    const headers = [
      'X-User-Id',
      'x_user_id',
      'X-Auth-Request-Email',
      'X-Forwarded-For',
      'x-forwarded-proto',
      'Forwarded',
      'X-Real-IP',
      'X-Envoy-Original-Path',
      'X-Request-Id',
      'Authorization',
      'Proxy-Authorization',
      'Cookie',
      'Host',
      'Content-Length',
      'Transfer-Encoding',
      'Connection',
      'TE',
      'X-HTTP-Method-Override',
      'X-Tenant',
      'no name',
    ];
    const { spec, skipped } = discover(
      upstream,
      {
        type: 'openapi',
        document: {
          openapi: '3.0.0',
          paths: {
            '/a': {
              parameters: [{ in: 'header', name: 'Remote-User', required: true }],
              get: {
                operationId: 'a',
                parameters: [
                  ...headers.map((name) => ({ in: 'header', name })),
                  { in: 'cookie', name: 'session' },
                  { in: 'header', name: 'Accept' },
                  { in: 'header', name: 'X-Page' },
                ],
              },
            },
          },
        },
      },
      { grantedHeaders: new Set(['x-tenant']) },
    );
    expect(spec.executableSchema!.schemaDefinition).to.include('a(XPage: String): JSON');
    expect(
      spec.executableSchema!.executor!.local!.resolutions!['Query|a']!.restResolver!.request!.headers,
    ).to.deep.equal({ ':method': 'GET', ':path': '/a', 'x-page': '{$args.XPage}' });
    const reason = 'only the gateway may set this header';
    expect(skipped).to.deep.equal([
      ...headers.slice(0, -1).map((name) => ({
        where: 'GET /a',
        reason: `header parameter '${name}': ${reason}`,
        isWithheld: true,
      })),
      { where: 'GET /a', reason: "header parameter 'no name': invalid header name", isWithheld: true },
      { where: 'GET /a', reason: "cookie parameter 'session': arguments cannot set cookies", isWithheld: true },
      { where: 'GET /a', reason: `header parameter 'Remote-User': ${reason}`, isWithheld: true },
    ]);
  });

  it('skips a failing path by name and keeps the rest', () => {
    const ok = { responses: { 200: { content: { 'application/json': { schema: { type: 'string' } } } } } };
    const { spec, skipped } = discovered({
      '/good': { get: { operationId: 'good', ...ok } },
      '/xml': { get: { responses: { 200: { content: { 'text/xml': {} } } } } },
      '/form': { post: { requestBody: { required: true, content: { 'multipart/form-data': {} } }, ...ok } },
      '/lost/{id}': { get: ok },
      '/nowhere': { get: { parameters: [{ $ref: '#/components/parameters/none' }], ...ok } },
      '/circle': { $ref: '#/paths/~1circle' },
      '/elsewhere': { $ref: 'other.yaml' },
      '/null': null,
    });
    expect(Object.keys(spec.executableSchema!.executor!.local!.resolutions!)).to.deep.equal(['Query|good']);
    expect(skipped).to.deep.equal([
      { where: '/circle', reason: '#/paths/~1circle refers to itself' },
      { where: '/elsewhere', reason: 'other.yaml is in another document' },
      { where: '/null', reason: '#/paths/~1null is not an object' },
      { where: 'GET /xml', reason: 'its response is not JSON' },
      { where: 'POST /form', reason: 'its body is not JSON' },
      { where: 'GET /lost/{id}', reason: "the path parameter 'id' is not declared" },
      { where: 'GET /nowhere', reason: '#/components/parameters/none does not exist' },
    ]);
  });

  it('supports recursive types, and makes names unique', () => {
    const { spec } = discovered(
      {
        '/tree': {
          get: {
            operationId: 'tree',
            responses: { 200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Query' } } } } },
          },
        },
      },
      {
        components: {
          schemas: { Query: { properties: { next: { $ref: '#/components/schemas/Query' }, 'no-name': {} } } },
        },
      },
    );
    expect(spec.executableSchema!.schemaDefinition).to.include('type Query2 {\n  next: Query2\n}');
  });

  it('does not let a document write into the schema', () => {
    const nasty = 'a") { x } type Evil { a: Int } """ \u0000\ud800';
    const { spec } = discovered({
      '/a': { get: { operationId: nasty, summary: nasty, responses: { 200: { description: nasty } } } },
    });
    const schema = buildSchema(DIRECTIVE + spec.executableSchema!.schemaDefinition!);
    expect(schema.getType('Evil')).to.equal(undefined);
  });

  it('skips operations that no resolver supports, and framing headers', () => {
    const parameters = ['Expect', 'Trailer', 'Keep-Alive', 'X-Kept'].map((name) => ({ in: 'header', name }));
    const { spec, skipped } = discovered({
      '/{$headers.authorization': { get: { operationId: 'open', responses: {} } },
      [`/${'x'.repeat(20_000)}`]: { get: { operationId: 'long', responses: {} } },
      '/kept': { get: { operationId: 'kept', parameters, responses: {} } },
    });
    const { schemaDefinition = '', executor } = spec.executableSchema!;
    expect(schemaDefinition).to.include('  kept(XKept: String): JSON');
    expect(schemaDefinition).to.not.match(/open|long/);
    expect(skipped.filter(({ isWithheld }) => !isWithheld).map(({ reason }) => reason)).to.deep.equal([
      "'/{$headers.authorization': an expression does not end",
      'a template must have at most 10000 characters',
    ]);
    const made = { ref: upstream, spec, limits: DEFAULT_LIMITS, counts: createApiCounts(context.metrics, 'x') };
    expect(createApi(made, context).schema.getQueryType()!.getFields()).to.have.all.keys('kept');
    expect(Object.keys(executor!.local!.resolutions!)).to.deep.equal(['Query|kept']);
  });

  it('makes five thousand equal names unique in linear time', async () => {
    const last = (nameOf: (i: number) => string, expected: string): Promise<number> => {
      const paths = Array.from({ length: 5000 }, (_, i) => [
        `/p${i}`,
        { get: { operationId: nameOf(i + 1), responses: {} } },
      ]);
      return cpuTime(() => {
        const { spec } = discovered(Object.fromEntries(paths));
        expect(spec.executableSchema!.schemaDefinition).to.include(`  ${expected}: JSON`);
      });
    };
    const own = await last((i) => `own${i}`, 'own5000');
    expect(await last(() => 'same', 'same5000')).to.be.below(own * 3);
  });

  it('reads a list of responses or media types once, however many operations refer to it', () => {
    const reads: string[] = [];
    const counted = (name: string, list: object): object =>
      new Proxy(list, { ownKeys: (own) => (reads.push(name), Reflect.ownKeys(own)) });
    const content = counted('content', { 'text/plain': {}, 'application/json': { schema: { type: 'string' } } });
    const responses = counted('responses', { 404: {}, 200: { content } });
    const post = { requestBody: { content }, responses };
    const paths = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`/p${i}`, { $ref: '#/x-shared' }]));
    const { spec } = discovered(paths, { 'x-shared': { post } });
    expect(spec.executableSchema!.schemaDefinition).to.include('  postP9(input: String): String');
    expect(reads.sort()).to.deep.equal(['content', 'responses']);
  });

  it('limits the number of operations, and reports it', () => {
    const paths = Object.fromEntries(
      Array.from({ length: 7 }, (_, i) => [`/p${i}`, { get: { operationId: `op${i}`, responses: {} } }]),
    );
    const bounds = { operations: 3, fields: 100 };
    const { spec, skipped } = discover(upstream, { type: 'openapi', document: { openapi: '3.0.0', paths } }, bounds);
    expect(Object.keys(spec.executableSchema!.executor!.local!.resolutions!)).to.deep.equal([
      'Query|op0',
      'Query|op1',
      'Query|op2',
    ]);
    expect(skipped).to.deep.equal([
      { where: '#/paths', reason: 'there are 7 operations; the first 3 are offered', isCut: true },
    ]);
  });

  it('uses JSON for types above the limit of fields, and reports it once', () => {
    const properties = (names: string) => Object.fromEntries(Array.from(names, (name) => [name, { type: 'string' }]));
    const answer = (schema: object) => ({ 200: { content: { 'application/json': { schema } } } });
    const parameters = Array.from('abcd', (name) => ({ in: 'query', name, schema: { type: 'string' } }));
    const document = {
      openapi: '3.0.0',
      paths: {
        '/a': { get: { operationId: 'a', responses: answer({ properties: properties('ab') }) } },
        '/b': { get: { operationId: 'b', responses: answer({ properties: properties('abcd') }) } },
        '/c': { get: { operationId: 'c', responses: answer({ type: 'string', enum: ['A', 'B', 'C', 'D'] }) } },
        '/d': { get: { operationId: 'd', parameters, responses: {} } },
        '/e': { get: { operationId: 'e', responses: answer({ properties: properties('a') }) } },
      },
    };
    const { spec, skipped } = discover(upstream, { type: 'openapi', document }, { operations: 10, fields: 5 });
    const text = spec.executableSchema!.schemaDefinition!;
    for (const field of ['a: AResult', 'b: JSON', 'c: JSON', 'e: EResult']) expect(text).to.include(`  ${field}`);
    expect(text).to.not.include('  d(');
    expect(skipped.filter(({ isCut }) => isCut).map(({ reason }) => reason)).to.deep.equal([
      'all types together would have more than 5 fields; from here on they are JSON',
    ]);
    expect(skipped.map(({ where }) => where)).to.include('GET /d');
  });

  it('reads properties named __proto__ and constructor', () => {
    const document = JSON.parse(
      '{"openapi":"3.1.0","paths":{"/a":{"get":{"operationId":"a","responses":{"200":{"content":{"application/json":{"schema":{"properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"}}}}}}}}}}}',
    );
    const { spec } = discover(upstream, { type: 'openapi', document });
    expect(spec.executableSchema!.schemaDefinition).to.include('constructor: String').and.not.include('__proto__');
  });

  for (const [name, document] of Object.entries({
    'no object': [],
    'Swagger 2': { swagger: '2.0', paths: {} },
    'another version': { openapi: '4.0.0' },
    'no operation': { openapi: '3.0.0', paths: {} },
    'schemas that are nested without end': {
      openapi: '3.0.0',
      paths: { '/a': { get: { parameters: [{ $ref: '#/paths/~1a/get/parameters/0' }] } } },
    },
  })) {
    it(`rejects ${name}`, () => {
      expect(() => discover(upstream, { type: 'openapi', document }))
        .to.throw()
        .with.property('code', 'ERR_GRAPHQL_DISCOVERY');
    });
  }
});

describe('discovery of a GraphQL server', () => {
  it('rejects a response that is not an introspection result', () => {
    for (const introspection of [undefined, null, {}, { __schema: 1 }, { __schema: { types: [] } }]) {
      expect(() => discover(upstream, { type: 'graphql', introspection }))
        .to.throw()
        .with.property('code', 'ERR_GRAPHQL_DISCOVERY');
    }
  });
});

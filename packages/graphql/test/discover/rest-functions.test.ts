import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { compileTemplate, templateProblems, type TemplateData } from '@edge-gateway/core';
import { expect } from 'chai';
import { functionsOf } from '../../src/discover/functions.ts';

const EXAMPLES = dirname(createRequire(import.meta.url).resolve('@readme/oas-examples/package.json'));
const example = (file: string): object => JSON.parse(readFileSync(join(EXAMPLES, file), 'utf8'));

function discovered(document: object, options: { operations?: number; grantedHeaders?: ReadonlySet<string> } = {}) {
  const bounds = { operations: 1000, grantedHeaders: new Set<string>(), ...options };
  const { serviceSpec, skipped } = functionsOf({ type: 'openapi', document }, bounds);
  return { functions: serviceSpec?.rest?.transformations ?? {}, skipped };
}

const ofPaths = (paths: object, more: object = {}) => discovered({ openapi: '3.0.0', paths, ...more });

/** Renders the path of a function with these parameters. */
function pathOf(text: string, variables: Readonly<Record<string, unknown>> = {}): string {
  const data = { variable: (name: string) => variables[name], header: () => '' };
  return compileTemplate(text, { pointers: false }).render(data as unknown as TemplateData);
}

describe('functions of an OpenAPI document', () => {
  it('are templates that parse, of each operation that has a valid path', () => {
    for (const file of [
      '2.0/json/petstore.json',
      '3.0/json/petstore.json',
      '3.1/json/petstore.json',
      '3.0/json/star-trek.json',
    ]) {
      const { functions, skipped } = discovered(example(file));
      expect(Object.keys(functions).length, file).to.be.greaterThan(10);
      expect(skipped, file).to.deep.equal([]);
      for (const [name, template] of Object.entries(functions))
        expect(templateProblems(template, 'request'), `${file} ${name}`).to.deep.equal([]);
    }
  });

  it('have method, path and query of the operation', () => {
    const parameters = [
      { in: 'path', name: 'pet-id', required: true, schema: { type: 'string' } },
      { in: 'query', name: 'tags' },
      { in: 'query', name: 'page size' },
    ];
    const paths = { '/pets/{pet-id}/toys': { get: { operationId: 'findToys', parameters } } };
    const { functions } = ofPaths(paths, { servers: [{ url: 'https://petstore.example/api/v1' }] });
    const { headers, body, ignoreErrorOnParse } = functions['findToys']!;
    expect(headers).to.have.all.keys(':method', ':path');
    expect(headers![':method']).to.deep.equal({ text: 'GET' });
    expect([body, ignoreErrorOnParse]).to.deep.equal([{}, true]);
    const { text } = headers![':path']! as { text: string };
    expect(pathOf(text, { petId: 7 })).to.equal('/api/v1/pets/7/toys');
    expect(pathOf(text, { petId: 7, tags: 'a' })).to.equal('/api/v1/pets/7/toys?tags=a');
    expect(pathOf(text, { petId: 7, pageSize: 0 })).to.equal('/api/v1/pets/7/toys?page%20size=0');
    expect(pathOf(text, { petId: 7, tags: 'a', pageSize: true })).to.equal(
      '/api/v1/pets/7/toys?tags=a&page%20size=true',
    );
  });

  it('escape their parameters, so that a value cannot change the path', () => {
    const { functions } = ofPaths({
      '/a/{id}': {
        get: {
          operationId: 'a',
          parameters: [
            { in: 'path', name: 'id' },
            { in: 'query', name: 'q' },
          ],
        },
      },
    });
    const { text } = functions['a']!.headers![':path']! as { text: string };
    expect(pathOf(text, { id: '../b?x=1#y', q: '1&admin=1' })).to.equal('/a/..%2Fb%3Fx%3D1%23y?q=1%26admin%3D1');
    expect(() => pathOf(text, { id: ['a'] })).to.throw('a text, a number or a boolean is required, not a list');
  });

  it('send the body of the request on if the operation has one', () => {
    const requestBody = (type: string) => ({ content: { [type]: { schema: {} } } });
    const { functions } = ofPaths({
      '/a': {
        post: { operationId: 'json', requestBody: requestBody('application/json') },
        put: { operationId: 'form', requestBody: requestBody('multipart/form-data') },
        delete: { operationId: 'none' },
        get: { operationId: 'get', requestBody: requestBody('application/json') },
      },
    });
    expect(functions['json']).to.not.have.any.keys('body', 'parseBodyBehavior');
    expect(functions['json']!.headers!['content-type']).to.deep.equal({ text: 'application/json' });
    expect(functions['form']).to.include({ parseBodyBehavior: 'DontParse' }).and.not.have.property('body');
    for (const name of ['none', 'get']) expect(functions[name]).to.deep.include({ body: {} });
  });

  it('set header parameters, except those that only the gateway may set', () => {
    const names = ['X-Tag', 'Authorization', 'x-user-id', 'x-mine', 'bad name', 'Accept'];
    const parameters = names.map((name) => ({ in: 'header', name }));
    const document = { openapi: '3.0.0', paths: { '/a': { get: { operationId: 'a', parameters } } } };
    const { functions } = discovered(document, { grantedHeaders: new Set(['x-mine']) });
    expect(functions['a']!.headers).to.have.all.keys(':method', ':path', 'x-tag');
    expect(functions['a']!.headers!['x-tag']).to.deep.equal({ text: '{{ default(XTag, header("x-tag")) }}' });
  });

  it('are named by method and path without an operationId, and uniquely', () => {
    const { functions } = ofPaths({
      '/pets/{id}': { get: { parameters: [{ in: 'path', name: 'id' }] } },
      '/b': { get: { operationId: 'same' }, post: { operationId: 'same' } },
    });
    expect(Object.keys(functions)).to.have.members(['get.pets.id', 'same', 'same2']);
  });

  it('have no variable that is a word of the template language', () => {
    const parameters = ['in', 'true', 'query_glue', '__x', 'first'].map((name) => ({ in: 'query', name }));
    const { functions, skipped } = ofPaths({ '/a': { get: { operationId: 'a', parameters } } });
    expect(skipped).to.deep.equal([]);
    const { text } = functions['a']!.headers![':path']! as { text: string };
    expect(pathOf(text, { in2: 1, true2: 2, query_glue2: 3, first: 5 })).to.equal(
      '/a?in=1&true=2&query_glue=3&first=5',
    );
  });

  it('contain nothing of the document that the gateway would evaluate', () => {
    const evil = '{{ env("SECRET") }}';
    const { functions, skipped } = ofPaths({
      [`/a/${evil}`]: { get: { operationId: 'path' } },
      '/b/{% if x %}': { get: { operationId: 'statement' } },
      '/c': { get: { operationId: 'query', parameters: [{ in: 'query', name: evil }] } },
      '/d/{x}': { get: { operationId: 'undeclared' } },
      '/e#f': { get: { operationId: 'fragment' } },
      g: { get: { operationId: 'relative' } },
    });
    expect(Object.keys(functions)).to.deep.equal(['query']);
    const { text } = functions['query']!.headers![':path']! as { text: string };
    expect(text).to.not.include('SECRET")');
    expect(skipped.map(({ where }) => where)).to.have.length(5);
    expect(skipped.find(({ where }) => where === 'GET /d/{x}')!.reason).to.include("'x' is not declared");
  });

  it('are at most as many as allowed, which is reported', () => {
    const paths = Object.fromEntries([1, 2, 3].map((i) => [`/p${i}`, { get: { operationId: `op${i}` } }]));
    const { functions, skipped } = discovered({ openapi: '3.0.0', paths }, { operations: 2 });
    expect(Object.keys(functions)).to.deep.equal(['op1', 'op2']);
    expect(skipped).to.deep.equal([
      { where: '#/paths', reason: 'there are 3 operations; the first 2 are functions', isCut: true },
    ]);
  });

  it('are read from Swagger 2, with its base path, bodies and shared parameters', () => {
    const { functions } = discovered({
      swagger: '2.0',
      basePath: '/v2',
      consumes: ['application/json'],
      parameters: { id: { in: 'path', name: 'id', type: 'string', required: true } },
      paths: {
        '/pets/{id}': {
          parameters: [{ $ref: '#/parameters/id' }],
          put: {
            operationId: 'change',
            parameters: [{ in: 'body', name: 'pet', schema: { $ref: '#/definitions/Pet' } }],
          },
          post: {
            operationId: 'upload',
            parameters: [{ in: 'formData', name: 'photo', type: 'file' }],
          },
        },
      },
      definitions: { Pet: { type: 'object' } },
    });
    expect(pathOf((functions['change']!.headers![':path'] as { text: string }).text, { id: 7 })).to.equal('/v2/pets/7');
    expect(functions['change']!.headers!['content-type']).to.deep.equal({ text: 'application/json' });
    expect(functions['upload']).to.include({ parseBodyBehavior: 'DontParse' });
  });

  it('repeat the address of the server without its last slashes, and not a long one', () => {
    const paths = { '/a': { get: { operationId: 'a' } } };
    const { functions } = ofPaths(paths, { servers: [{ url: `/api${'/'.repeat(900)}` }] });
    expect(functions['a']!.headers![':path']).to.deep.equal({ text: '/api/a' });
    const long = { url: '/{a}', variables: { a: { default: 'x'.repeat(2000) } } };
    for (const server of [{ url: `/x${'/'.repeat(2000)}x` }, long])
      expect(() => ofPaths(paths, { servers: [server] })).to.throw('has more than 1024 characters');
  });

  const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
  const textsOf = (length: number, name: (i: number) => string): string[] => Array.from({ length }, (_, i) => name(i));

  /** Many paths with the same operations, which have all of these query parameters. */
  function sharing(paths: number, names: readonly string[]) {
    const operations = METHODS.map((method) => [method, { operationId: method }] as const);
    const parameters = names.map((name) => ({ in: 'query', name }));
    return {
      paths: Object.fromEntries(textsOf(paths, (i) => `/${i}`).map((path) => [path, { $ref: '#/x-shared' }])),
      'x-shared': { ...Object.fromEntries(operations), parameters },
    };
  }

  for (const version of [{ openapi: '3.0.0' }, { swagger: '2.0' }])
    it(`are limited where operations share long lists: ${Object.keys(version)[0]}`, () => {
      const many = discovered({
        ...version,
        ...sharing(
          500,
          textsOf(2000, (i) => `p${i}`),
        ),
      });
      expect(many.skipped.map(({ reason }) => reason).join()).to.include('more than 500000 references and values');
      const long = discovered({
        ...version,
        ...sharing(
          150,
          textsOf(10, (i) => `${'x'.repeat(900)}${i}`),
        ),
      });
      expect(long.skipped.at(-1)).to.deep.include({ isCut: true });
      expect(Object.keys(long.functions).length).to.be.within(100, 700);
      const { skipped } = discovered({ ...version, ...sharing(1, ['x'.repeat(2000)]) });
      expect(skipped[0]!.reason).to.equal('a parameter has a name of more than 1024 characters');
    }).timeout(60_000);

  it('are not those behind a reference with many keys', () => {
    const $ref = `#${'/a'.repeat(1000)}`;
    const { skipped } = ofPaths({ '/a': { $ref }, '/b': { get: {} } });
    expect(skipped).to.deep.equal([{ where: '/a', reason: 'a reference has more than 64 keys' }]);
  });

  it('are those of no other document', () => {
    expect(() => discovered({ hello: 'world' })).to.throw('neither OpenAPI 3 nor Swagger 2.0');
    expect(() => discovered({ swagger: '1.2' })).to.throw('neither OpenAPI 3 nor Swagger 2.0');
    expect(ofPaths({}).functions).to.deep.equal({});
  });
});

import { createControlPlane, formatIssue, memorySource, type ControlPlaneState } from '@edge-gateway/core';
import { expect } from 'chai';
import { graphqlApiCheck } from '../../src/explain/check-api.ts';

const api = (schemaDefinition: string) => ({
  apiVersion: 'graphql.gw.vendor.io/v1beta1',
  kind: 'GraphQLApi',
  metadata: { name: 'books', namespace: 'default' },
  spec: {
    executableSchema: {
      schemaDefinition,
      executor: { local: { resolutions: { book: { mockResolver: { syncResponse: { title: 'One' } } } } } },
    },
  },
});
const SERVICE = {
  apiVersion: 'gateway.vendor.io/v1',
  kind: 'VirtualService',
  metadata: { name: 'books', namespace: 'default' },
  spec: {
    virtualHost: {
      domains: ['*'],
      routes: [{ matchers: [{ prefix: '/graphql' }], graphqlApiRef: { name: 'books', namespace: 'default' } }],
    },
  },
};
const GOOD = 'type Query {\n  book: Book @resolve(name: "book")\n}\ntype Book { title: String }\n';

/** A control plane that checks definitions, over one unit. */
async function start(schemaDefinition: string) {
  const source = memorySource({ api: api(schemaDefinition), service: SERVICE });
  const controlPlane = createControlPlane({ source, checks: [graphqlApiCheck] });
  await controlPlane.start();
  return { controlPlane, source, set: (text: string) => source.set('api', api(text)) };
}

const statusOf = (state: ControlPlaneState | undefined, key: string) =>
  state?.statuses.get(key as never)?.statuses['gw-system'];
const servedBy = (state: ControlPlaneState | undefined) =>
  [...state!.snapshots.values()].flatMap(({ listeners }) =>
    listeners.flatMap(({ virtualHosts }) => virtualHosts.flatMap(({ graphqlApis }) => graphqlApis)),
  );

describe('graphqlApiCheck', () => {
  it('accepts a valid definition', async () => {
    const { controlPlane } = await start(GOOD);
    expect(statusOf(controlPlane.state, 'GraphQLApi/default/books')).to.include({ state: 'Accepted' });
    expect(servedBy(controlPlane.state)).to.have.length(1);
    await controlPlane.close();
  });

  const bad: [what: string, definition: string, reason: string][] = [
    ['does not parse', 'type Query {\n  book: }\n', 'line 2, column 9 of the definition: Syntax Error'],
    [
      'names an unknown type',
      'type Query {\n  book: Bok\n}\n',
      'line 2, column 9 of the definition: Unknown type "Bok".',
    ],
    [
      'is no valid schema',
      'interface Named { name: String }\ntype Query implements Named { book: Int }\n',
      'of the definition: Interface field Named.name expected but Query does not provide it.',
    ],
    ['lacks a query type', 'type Book { title: String }\n', 'Query root type must be provided.'],
    [
      'has an impossible cache hint',
      'type Query {\n  book: Int @cacheControl(maxAge: -1)\n}\n',
      'line 2, column 3 of the definition: Query.book: maxAge of @cacheControl is a number of seconds',
    ],
    ['is nested too deep', `type Query { a: ${'['.repeat(100_000)}`, ''],
  ];
  for (const [what, definition, reason] of bad) {
    it(`rejects a definition that ${what}, with its location`, async () => {
      const { controlPlane } = await start(definition);
      const status = statusOf(controlPlane.state, 'GraphQLApi/default/books');
      expect(status).to.include({ state: 'Rejected' });
      expect(status!.reason).to.include(reason);
      expect(servedBy(controlPlane.state)).to.deep.equal([]);
      await controlPlane.close();
    });
  }

  const upstreamRef = { name: 'books' };
  const rest = (request: object, more: object = {}) => ({ restResolver: { upstreamRef, request, ...more } });
  const path = (text: string) => rest({ headers: { ':path': text } });
  const templates: [what: string, resolution: object, reason: string][] = [
    ['an unknown root', path('/{$arg.x}'), '{$arg.x}: expressions must begin with args'],
    ['no key', path('/{$args.}'), "{$args.}: '.' is not a path"],
    ['no end', path('/{$args.x'), 'an expression does not end'],
    ['$body outside of setters', path('/{$body.x}'), '$body is allowed in setters only'],
    ['an unknown root in the query', rest({ queryParams: { a: '{$parents.x}' } }), '{$parents.x}'],
    ['an unknown root in the body', rest({ body: { a: ['{$parents.x}'] } }), '{$parents.x}'],
    ['an unknown root in a setter', rest({}, { response: { setters: { a: '{$bodi.x}' } } }), '{$bodi.x}'],
    ['no path as resultRoot', rest({}, { response: { resultRoot: 'a[' } }), 'is not a path'],
    ['several lines in a header', rest({ headers: { 'x-a': 'a\nb' } }), 'cannot be sent in a header'],
    ['an unknown root in a batch', rest({}, { batch: { key: '{$parents.x}' } }), '{$parents.x}'],
    [
      'an unknown root in a gRPC message',
      {
        grpcResolver: {
          upstreamRef,
          requestTransform: { serviceName: 'a.B', methodName: 'C', outgoingMessageJson: { a: '{$arg.x}' } },
        },
      },
      '{$arg.x}',
    ],
  ];
  for (const [what, resolution, reason] of templates) {
    it(`rejects a template with ${what}, at its resolution`, async () => {
      const resource = api(GOOD);
      Object.assign(resource.spec.executableSchema.executor.local.resolutions, { book: resolution });
      const controlPlane = createControlPlane({ source: memorySource({ api: resource }), checks: [graphqlApiCheck] });
      await controlPlane.start();
      const status = statusOf(controlPlane.state, 'GraphQLApi/default/books');
      expect(status).to.include({ state: 'Rejected' });
      expect(status!.reason).to.include('spec.executableSchema.executor.local.resolutions.book').and.include(reason);
      await controlPlane.close();
    });
  }

  it('rejects a template of a remote executor', async () => {
    const remote = { upstreamRef, headers: { 'x-a': '{$args.x}' } };
    const spec = { executableSchema: { executor: { remote } } };
    const controlPlane = createControlPlane({
      source: memorySource({ api: { ...api(GOOD), spec } }),
      checks: [graphqlApiCheck],
    });
    await controlPlane.start();
    const status = statusOf(controlPlane.state, 'GraphQLApi/default/books');
    expect(status!.reason).to.include('spec.executableSchema.executor.remote').and.include('{$args.x}');
    await controlPlane.close();
  });

  for (const [written, head, lines] of [
    ['a block', '|', ['type Query {', '  book: Bok', '}']],
    ['a folded block', '>-', ['type Query {', '  book: Bok }']],
    ['quotes', '"type Query {', ['  book: Bok }"']],
    ['one line', "'type Query { book: Bok }'", []],
  ] as const) {
    it(`names the line and column of the file, of a definition in ${written}`, async () => {
      const yaml = [
        '# some APIs',
        'apiVersion: graphql.gw.vendor.io/v1beta1',
        'kind: GraphQLApi',
        'metadata: { name: books, namespace: default }',
        'spec:',
        '  executableSchema:',
        '    executor: { local: {} }',
        `    schemaDefinition: ${head}`,
        ...lines.map((line) => `      ${line}`),
      ];
      const source = memorySource({ 'books.yaml': `${yaml.join('\n')}\n` });
      const controlPlane = createControlPlane({ source, checks: [graphqlApiCheck] });
      await controlPlane.start();
      const [issue] = controlPlane.state!.issues;
      const line = yaml.findIndex((each) => each.includes('Bok'));
      expect(formatIssue(issue!)).to.include(
        `books.yaml:${line + 1}:${yaml[line]!.indexOf('Bok') + 1}  GraphQLApi default/books  spec.executableSchema.schemaDefinition  line`,
      );
      await controlPlane.close();
    });
  }

  it('keeps the last good definition in use, and warns resources that refer to it', async () => {
    const { controlPlane, set } = await start(GOOD);
    const [before] = servedBy(controlPlane.state);
    set('type Query {');
    expect(statusOf(controlPlane.state, 'GraphQLApi/default/books')).to.include({ state: 'Rejected' });
    expect(statusOf(controlPlane.state, 'VirtualService/default/books')!.reason ?? '').to.include('books');
    expect(servedBy(controlPlane.state)).to.deep.equal([before]);
    set(GOOD);
    expect(statusOf(controlPlane.state, 'GraphQLApi/default/books')).to.include({ state: 'Accepted' });
    await controlPlane.close();
  });
});

import {
  createControlPlane,
  createLoggers,
  createMetrics,
  keyOf,
  memorySource,
  type Observed,
  type StatusReport,
} from '@edge-gateway/core';
import { expect } from 'chai';
import { buildSchema, introspectionFromSchema } from 'graphql';
import { createSchemaWatch } from '../../src/remote/schema-watch.ts';
import { createUrlCaller } from '../../src/resolvers/upstream-urls.ts';
import { serve, type TestServer } from '../servers.ts';

const BOOKS = 'type Query { book(id: ID!): Book } type Book { title: String pages: Int } enum Kind { NOVEL }';
const CHANGED = 'type Query { book(id: ID!): Book } type Book { title: [String] } enum Kind { NOVEL POEM }';
const KEY = keyOf('GraphQLApi', { name: 'books', namespace: 'default' });

describe('the schema of a server behind a written API', () => {
  const open: { close(): unknown }[] = [];
  afterEach(async () => {
    for (const each of open.splice(0).toReversed()) await each.close();
  });

  /** A control plane that watches one server. `answer` is SDL, or the body as it is. */
  async function start(schemaDefinition: string | undefined, changes: object = {}) {
    let answer: string | object = BOOKS;
    let onAsked = (): void => {};
    const observed: (Observed | undefined)[] = [];
    const server: TestServer = await serve((_req, res) => {
      onAsked();
      const body = typeof answer === 'string' ? { data: introspectionFromSchema(buildSchema(answer)) } : answer;
      res.end(JSON.stringify(body));
    });
    const source = memorySource({
      upstream: upstream(server.url),
      api: api(schemaDefinition),
      route: route('/graphql'),
      settings: settings(changes),
    });
    const controlPlane = createControlPlane({ source });
    const lines: string[] = [];
    const log = createLoggers({ destination: { write: (line: string) => void lines.push(line) } });
    const metrics = createMetrics();
    const caller = createUrlCaller({ books: server.url });
    const watch = createSchemaWatch({
      callUpstream: caller.call,
      observe(key, next) {
        observed.push(next);
        controlPlane.observe(key, next);
      },
      log: log.get('graphql'),
      metrics,
    });
    open.push(server, caller, controlPlane, watch);
    await controlPlane.start();
    controlPlane.subscribe((state) => watch.update(state));
    await watch.look();
    return {
      server,
      source,
      watch,
      lines,
      metrics,
      observed,
      whileAsked: (act: () => void) => void (onAsked = act),
      status: (): StatusReport => controlPlane.state!.statuses.get(KEY)!.statuses['gw-system']!,
      served: () =>
        controlPlane
          .state!.snapshots.get('gateway-proxy')!
          .listeners.flatMap(({ virtualHosts }) => virtualHosts.flatMap(({ graphqlApis }) => graphqlApis))[0]!,
      async answers(next: string | object) {
        answer = next;
        await watch.look();
      },
    };
  }

  it('is read at the path of requests', async () => {
    const { server, source, watch } = await start(BOOKS);
    expect(new Set(server.asked)).to.deep.equal(new Set(['POST /graphql']));
    source.set('route', route('/v2/query'));
    await watch.look();
    expect(server.asked).to.include('POST /v2/query');
  });

  it('accepts an API that declares the same or less', async () => {
    const { status } = await start('type Query { book(id: ID!): Book } type Book { title: String }');
    expect(status()).to.deep.equal({ state: 'Accepted', reportedBy: 'gw' });
  });

  it('is compared with the declared one: breaking and dangerous changes are in the status', async () => {
    const { status, answers, served } = await start(BOOKS);
    await answers(CHANGED);
    expect(status().state).to.equal('Warning');
    expect(status().reason).to.include('the schema of the server differs from the declared one');
    expect(status().reason).to.include("breaking: Field 'pages' was removed from object type 'Book'");
    expect(status().reason).to.include("breaking: Field 'Book.title' changed type from 'String' to '[String]'");
    expect(status().reason).to.include("dangerous: Enum value 'POEM' was added to enum 'Kind'");
    expect(served().spec.executableSchema!.schemaDefinition).to.equal(BOOKS);
    await answers(BOOKS);
    expect(status().state).to.equal('Accepted');
  });

  it('is rejected with rejectBreakingChanges, with a note in the status', async () => {
    const { status, answers } = await start(BOOKS, { rejectBreakingChanges: true });
    await answers(CHANGED);
    expect(status().state).to.equal('Rejected');
    expect(status().reason).to.include(
      'the schema of the server differs from the declared one, so the change is rejected',
    );
    const [errors, warnings] = status().reason!.split('warning:');
    expect(errors).to.include("breaking: Field 'pages' was removed").and.not.include('POEM');
    expect(warnings).to.include("dangerous: Enum value 'POEM' was added");
  });

  for (const [rule, answer, found, state] of [
    ['RULE_DANGEROUS_TO_BREAKING', BOOKS.replace('NOVEL', 'NOVEL POEM'), 'breaking: Enum value', 'Warning'],
    [
      'RULE_DEPRECATED_FIELD_REMOVAL_DANGEROUS',
      BOOKS.replace('old: Int @deprecated', ''),
      'dangerous: Field',
      'Warning',
    ],
    ['RULE_IGNORE_DESCRIPTION_CHANGES', `"new" ${BOOKS}`, undefined, 'Accepted'],
    ['RULE_IGNORE_UNREACHABLE', BOOKS.replace('enum Kind { NOVEL }', ''), undefined, 'Accepted'],
  ] as const) {
    it(`is evaluated by ${rule}`, async () => {
      const declared = rule.includes('DEPRECATED') ? BOOKS.replace('pages', 'old: Int @deprecated pages') : BOOKS;
      const { status, answers } = await start(declared, { processingRules: [rule] });
      await answers(answer);
      expect(status().state).to.equal(state);
      if (found) expect(status().reason).to.include(found);
    });
  }

  it('is used if none is declared, and follows the server', async () => {
    const { status, served, answers } = await start(undefined);
    expect(status().state).to.equal('Accepted');
    expect(served().serverSchema).to.include('pages: Int');
    await answers(CHANGED);
    expect(served().serverSchema).to.include('title: [String]');
    expect(status().reason).to.include('the schema of the server has changed');
    expect(status().reason).to.include("breaking: Field 'pages' was removed from object type 'Book'");
    await answers(CHANGED);
    expect(status().reason).to.include('breaking: ');
  });

  it('stays the same object if the server only changes the order', async () => {
    const { served, answers } = await start(undefined);
    const before = served();
    await answers(BOOKS.replace('title: String pages: Int', 'pages: Int title: String'));
    expect(served()).to.equal(before);
  });

  it('stays the previous one if none is declared and breaking changes are rejected', async () => {
    const { status, served, answers } = await start(undefined, { rejectBreakingChanges: true });
    await answers(CHANGED);
    expect(served().serverSchema).to.include('pages: Int');
    expect(status().state).to.equal('Rejected');
    expect(status().reason).to.include('the schema of the server has changed, so the change is rejected');
    await answers(BOOKS);
    expect(status().state).to.equal('Accepted');
    await answers(CHANGED);
    expect(status().state).to.equal('Rejected');
    await answers(BOOKS.replace('pages: Int', 'pages: Int year: Int'));
    expect(served().serverSchema).to.include('year: Int');
    expect(status().state).to.equal('Accepted');
  });

  for (const [what, answer] of [
    ['does not tell it', { errors: [{ message: 'introspection is off' }] }],
    ['tells nonsense', { data: { __schema: { types: 7 } } }],
    ['is no GraphQL server', { hello: 'world' }],
  ] as const) {
    it(`is a note in the status, not a problem, when the server ${what}`, async () => {
      const { status, answers, served } = await start(BOOKS);
      await answers(answer);
      expect(status().state).to.equal('Accepted');
      expect(status().messages!.join()).to.match(/^the schema of the server cannot be read: ./);
      expect(served().spec.executableSchema!.schemaDefinition).to.equal(BOOKS);
      await answers(BOOKS);
      expect(status()).to.not.have.property('messages');
    });
  }

  it('is also a note if the server is unavailable, and the known schema stays in use', async () => {
    const { server, status, served, watch } = await start(undefined);
    await server.close();
    await watch.look();
    expect(status().state).to.equal('Accepted');
    expect(status().messages).to.have.length(1);
    expect(served().serverSchema).to.include('pages: Int');
  });

  it('has each change in the log and in the statistics', async () => {
    const { lines, metrics, answers } = await start(BOOKS);
    await answers(CHANGED);
    const changes = lines.filter((line) => line.includes('schema of remote server changed'));
    expect(changes).to.have.length(3);
    expect(changes.join()).to.include("Field 'pages' was removed").and.include('default.books');
    const counted = (level: string) =>
      metrics.list().find(({ name }) => name.metric === `envoy_default_books_graphql_schema_changes_${level}`)?.stat;
    expect(counted('breaking')).to.deep.equal({ value: 2 });
    expect(counted('dangerous')).to.deep.equal({ value: 1 });
  });

  it('is removed with its API', async () => {
    const { source, answers, server, watch } = await start(BOOKS);
    await answers(CHANGED);
    source.delete('api');
    await Promise.resolve();
    const asked = server.asked.length;
    await watch.look();
    expect(server.asked).to.have.length(asked);
  });

  it('is not reported of an API that was removed while its server was polled', async () => {
    const { source, answers, observed, whileAsked } = await start(BOOKS);
    whileAsked(() => {
      source.delete('api');
      observed.length = 0;
    });
    await answers(CHANGED);
    expect(observed.filter((one) => one !== undefined)).to.deep.equal([]);
  });
});

function upstream(url: string) {
  const spec = { static: { hosts: [{ addr: '127.0.0.1', port: Number(new URL(url).port) }] } };
  return { apiVersion: 'gw.vendor.io/v1', kind: 'Upstream', metadata: { name: 'books', namespace: 'default' }, spec };
}

function api(schemaDefinition: string | undefined) {
  const executor = { remote: { upstreamRef: { name: 'books', namespace: 'default' } } };
  return {
    apiVersion: 'graphql.gw.vendor.io/v1beta1',
    kind: 'GraphQLApi',
    metadata: { name: 'books', namespace: 'default' },
    spec: { executableSchema: { ...(schemaDefinition && { schemaDefinition }), executor } },
  };
}

function route(prefixRewrite: string) {
  const graphqlApiRef = { name: 'books', namespace: 'default' };
  const routes = [{ matchers: [{ prefix: '/books' }], graphqlApiRef, options: { prefixRewrite } }];
  return {
    apiVersion: 'gateway.vendor.io/v1',
    kind: 'VirtualService',
    metadata: { name: 'books', namespace: 'default' },
    spec: { virtualHost: { domains: ['*'], routes } },
  };
}

function settings(schemaChangeValidationOptions: object) {
  const metadata = { name: 'default', namespace: 'gw-system' };
  const spec = { graphqlOptions: { schemaChangeValidationOptions } };
  return { apiVersion: 'gw.vendor.io/v1', kind: 'Settings', metadata, spec };
}

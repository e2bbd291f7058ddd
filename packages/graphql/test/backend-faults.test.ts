import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { graphqlApi } from '../src/middleware.ts';
import { ask, serveHandler, serveJson, type TestServer } from './servers.ts';

const SCHEMA = `
  type Query { thing(kind: String!): Thing @resolve(name: "thing") good: Thing @resolve(name: "good") }
  type Thing { name: String size: Int ok: Boolean ratio: Float id: ID list: [String] must: [Inner!] colour: Colour }
  type Inner { value: String! }
  enum Colour { RED GREEN }
`;

const json = (value: unknown) => (_req: unknown, res: ServerResponse) => res.end(JSON.stringify(value));

const FAULTS: Record<string, (res: ServerResponse) => void> = {
  'a page of HTML': (res) => res.end('<html>secret stack trace</html>'),
  '404': (res) => res.writeHead(404).end('{"secret":1}'),
  '500': (res) => res.writeHead(500).end('Error: secret at /srv/app.js:1'),
  'a redirect': (res) => res.writeHead(302, { location: '/good' }).end(),
  'half a body': (res) => {
    res.writeHead(200, { 'content-length': '1000' });
    res.write('{"name":"secret"');
    setImmediate(() => res.destroy());
  },
  'more than it may': (res) => res.end(JSON.stringify({ name: 'x'.repeat(5000) })),
  'nothing in time': () => {},
  'a list': (res) => res.end('[{"name":"secret"}]'),
  'a text': (res) => res.end('"secret"'),
};

describe('a backend that responds', () => {
  let backend: TestServer;
  let front: TestServer;

  before(async () => {
    const faults = Object.entries(FAULTS).map(
      ([name, answer]) =>
        [`/thing/${encodeURIComponent(name)}`, (_req: unknown, res: ServerResponse) => answer(res)] as const,
    );
    backend = await serveJson({
      ...Object.fromEntries(faults),
      '/good': { name: 'good' },
      '/thing/wrong': json({ name: 5, size: '5', ok: 1, ratio: '1', id: 1.5, list: 'a', colour: 'BLUE' }),
      '/thing/right': json({ name: 'a', size: 5, ok: true, ratio: 1, id: 7, list: ['a', null], colour: 'RED' }),
      '/thing/bounds': (_req: unknown, res: ServerResponse) => res.end('{"size":-2147483648,"ratio":-1e308}'),
      '/thing/beyond': { size: -2_147_483_649, ratio: 1 },
      '/thing/infinite': (_req: unknown, res: ServerResponse) => res.end('{"size":1,"ratio":1e999}'),
      '/thing/nulls': json({ name: null, list: null, must: [{ value: 'a' }, { value: null }] }),
      '/thing/absent': json({}),
      '/thing/names': json({ constructor: 1 }),
    });
    const upstreamRef = { name: 'backend' };
    const handler = graphqlApi({
      schemaDefinition: SCHEMA,
      resolutions: {
        thing: {
          restResolver: { upstreamRef, timeout: '2s', request: { headers: { ':path': '/thing/{$args.kind}' } } },
        },
        good: { restResolver: { upstreamRef, timeout: '10s', request: { headers: { ':path': '/good' } } } },
      },
      upstreams: { backend: backend.url },
      limits: { maxResponseBytes: 4096 },
    });
    front = await serveHandler(handler);
  });
  after(async () => {
    await front.close();
    await backend.close();
  });

  for (const name of Object.keys(FAULTS)) {
    it(`${name}: an error of that field only, with its path, without the message of the backend`, async () => {
      const { status, body } = await ask(
        front.url,
        'query ($kind: String!) { thing(kind: $kind) { name } good { name } }',
        {
          kind: name,
        },
      );
      expect(status).to.equal(200);
      expect(body.data).to.deep.equal({ thing: null, good: { name: 'good' } });
      expect(body.errors).to.have.length(1);
      expect(body.errors[0].path).to.deep.equal(['thing']);
      expect(JSON.stringify(body)).to.not.match(/secret|127\.0\.0\.1|backend|\.ts/);
      expect(body.errors[0].extensions.code).to.match(/^ERR_GRAPHQL_/);
    });
  }

  it('values of other types: an error for each, without coercion', async () => {
    const { body } = await ask(front.url, '{ thing(kind: "wrong") { name size ok ratio id list colour } }');
    expect(body.data.thing).to.deep.equal({
      name: null,
      size: null,
      ok: null,
      ratio: null,
      id: null,
      list: null,
      colour: null,
    });
    expect(body.errors.map(({ path }: { path: string[] }) => path.join('.'))).to.have.members(
      ['name', 'size', 'ok', 'ratio', 'id', 'list', 'colour'].map((name) => `thing.${name}`),
    );
  });

  it('values of the right types', async () => {
    const { body } = await ask(front.url, '{ thing(kind: "right") { name size ok ratio id list colour } }');
    expect(body.errors).to.equal(undefined);
    expect(body.data.thing).to.deep.equal({
      name: 'a',
      size: 5,
      ok: true,
      ratio: 1,
      id: '7',
      list: ['a', null],
      colour: 'RED',
    });
  });

  it('minimum and maximum numbers are accepted, and none beyond them', async () => {
    const { body } = await ask(front.url, '{ thing(kind: "bounds") { size ratio } }');
    expect(body).to.deep.equal({ data: { thing: { size: -2_147_483_648, ratio: -1e308 } } });
    const beyond = await ask(front.url, '{ thing(kind: "beyond") { size ratio } }');
    expect(beyond.body.errors.map(({ path }: { path: string[] }) => path.join('.'))).to.deep.equal(['thing.size']);
    // Parsers read it differently: the response counts as invalid.
    const infinite = await ask(front.url, '{ thing(kind: "infinite") { size ratio } }');
    expect(infinite.body.errors.map(({ path }: { path: string[] }) => path.join('.'))).to.deep.equal(['thing']);
  });

  it('null for a non-null field: the nearest nullable field is null', async () => {
    const { body } = await ask(front.url, '{ thing(kind: "nulls") { name list must { value } } }');
    expect(body.data.thing).to.deep.equal({ name: null, list: null, must: null });
    expect(body.errors).to.have.length(1);
    expect(body.errors[0].path).to.deep.equal(['thing', 'must', 1, 'value']);
    expect(body.errors[0].message).to.equal('Cannot return null for non-nullable field Inner.value.');
  });

  it('none of the selected fields: null, without an error', async () => {
    const { body } = await ask(front.url, '{ thing(kind: "absent") { name list must { value } } }');
    expect(body).to.deep.equal({ data: { thing: { name: null, list: null, must: null } } });
  });

  it('keys that every object has: neither read nor overwritten', async () => {
    const { body } = await ask(
      front.url,
      '{ thing(kind: "absent") { __proto__: name constructor: size toString: name } }',
    );
    expect(Object.keys(body.data.thing)).to.have.members(['__proto__', 'constructor', 'toString']);
  });
});

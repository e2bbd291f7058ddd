import { hash } from 'node:crypto';
import { expect } from 'chai';
import { graphqlApi } from '../src/middleware.ts';
import { ATTACKS, SCHEMA, SIZES, times } from './attack-documents.ts';
import { ask, post, serveHandler, serveJson, type GraphQLAnswer, type TestServer } from './servers.ts';

describe('a GraphQL attack', () => {
  let backend: TestServer;
  let front: TestServer;

  before(async () => {
    backend = await serveJson({ '/node': { id: '1', name: 'n' }, '/list': [{ id: '1' }] });
    const upstreamRef = { name: 'backend' };
    const rest = (path: string) => ({
      restResolver: { upstreamRef, timeout: '30s', request: { headers: { ':path': path } } },
    });
    front = await serveHandler(
      graphqlApi({
        schemaDefinition: SCHEMA,
        resolutions: { node: rest('/node'), list: rest('/list') },
        upstreams: { backend: backend.url },
      }),
    );
  });
  after(async () => {
    await front.close();
    await backend.close();
  });
  beforeEach(() => {
    backend.asked.length = 0;
  });

  const expectRefused = ({ status, body }: GraphQLAnswer, wanted = 400): void => {
    expect(body).to.not.have.property('data');
    expect(body.errors[0].extensions.code).to.match(/^ERR_GRAPHQL_/);
    expect(body.errors.length).to.be.at.most(7);
    expect(status).to.equal(wanted);
    expect(backend.asked).to.deep.equal([]);
  };

  for (const [name, document] of Object.entries(ATTACKS)) {
    for (const size of SIZES) {
      it(`${name}, ${size}: rejected before any request upstream`, async () => {
        expectRefused(await ask(front.url, document(size)));
      });
    }
  }

  it('overlapping fields below the other limits: rejected before they are compared', async () => {
    const fields = `${'id '.repeat(20)} next { ${'id '.repeat(19)} }`;
    expectRefused(await ask(front.url, `{ ${times(19, () => `node { ${fields} }`)} }`));
    const fragments = times(10, (i) => `fragment f${i} on Node { ${fields} }`);
    expectRefused(await ask(front.url, `{ node { ${times(10, (i) => `...f${i}`)} } } ${fragments}`));
  });

  it('a document of 1 MiB and more: rejected by its size', async () => {
    expectRefused(await ask(front.url, `{ node { id } } # ${'x'.repeat(1_048_576)}`), 413);
  });

  it('a million tokens below the size limit: rejected', async () => {
    expectRefused(await ask(front.url, '{ '.repeat(500_000)));
  });

  it('variables of 10 MiB: rejected', async () => {
    expectRefused(await ask(front.url, '{ node { id } }', { a: 'x'.repeat(10 * 1_048_576) }), 413);
  });

  it('deep variables: rejected', async () => {
    const body = `{"query":"{ node { id } }","variables":{"a":${'['.repeat(100)}${']'.repeat(100)}}}`;
    expectRefused(await post(front.url, body));
  });

  it('invalid inputs of any size: rejected with short errors', async () => {
    const list = `${'['.repeat(400)}${']'.repeat(400)}`;
    const answers = [
      await ask(front.url, `{ node(id: ${list}) { id } }`),
      await ask(front.url, `{ node { ${'x'.repeat(60_000)} } }`),
    ];
    for (const answer of answers) {
      expectRefused(answer);
      expect(JSON.stringify(answer.body).length).to.be.below(8000);
    }
  });

  it('__proto__ in variables: changes nothing', async () => {
    const body = '{"query":"query ($id: ID) { node(id: $id) { id } }","variables":{"__proto__":{"id":"x"}}}';
    expect((await post(front.url, body)).status).to.equal(200);
    expect(({} as { id?: string }).id).to.equal(undefined);
  });

  it('a batch: rejected, for batches are off', async () => {
    const one = { query: '{ node { id } }' };
    expectRefused(await post(front.url, JSON.stringify(Array.from({ length: 1000 }, () => one))));
    expectRefused(await post(front.url, JSON.stringify([one])));
  });

  it('introspection: rejected without naming the schema', async () => {
    const answer = await ask(front.url, '{ __schema { types { name } } }');
    expectRefused(answer);
    expectRefused(await ask(front.url, '{ __type(name: "Node") { name } }'));
  });

  it('a misspelt field: rejected without a suggestion', async () => {
    const answer = await ask(front.url, '{ nod { id } }');
    expectRefused(answer);
    expect(answer.body.errors[0].message).to.not.match(/did you mean/i);
  });

  it('a mutation by GET: 405, and nothing is changed', async () => {
    const response = await fetch(`${front.url}?query=${encodeURIComponent('mutation { change { id } }')}`);
    expect(response.status).to.equal(405);
    expect(response.headers.get('allow')).to.equal('POST');
    expect(backend.asked).to.deep.equal([]);
  });

  for (const type of ['application/x-www-form-urlencoded', 'text/plain', 'multipart/form-data; boundary=x', '']) {
    it(`a form (${type || 'no content type'}): 415, as a foreign page could send it`, async () => {
      expectRefused(await post(front.url, '{"query":"{ node { id } }"}', { 'content-type': type }), 415);
    });
  }

  it('a multipart upload map: 415', async () => {
    const body = '--x\r\ncontent-disposition: form-data; name="operations"\r\n\r\n{"query":"{ node { id } }"}\r\n--x--';
    expectRefused(await post(front.url, body, { 'content-type': 'multipart/form-data; boundary=x' }), 415);
  });

  for (const body of [
    '',
    '{',
    'null',
    '1',
    '"{ node { id } }"',
    '{"query":1}',
    '{"query":"{ node }","variables":[]}',
  ]) {
    it(`a body ${JSON.stringify(body)}: 400`, async () => {
      expectRefused(await post(front.url, body));
    });
  }

  for (const method of ['PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
    it(`${method}: 405 with what is allowed`, async () => {
      const response = await fetch(front.url, { method });
      expect(response.status).to.equal(405);
      expect(response.headers.get('allow')).to.equal('GET, HEAD, POST');
    });
  }

  it('a persisted query under the hash of another: rejected and not kept', async () => {
    const query = '{ node { id } }';
    const sha256Hash = hash('sha256', 'another', 'hex');
    const extensions = { persistedQuery: { version: 1, sha256Hash } };
    expectRefused(await post(front.url, JSON.stringify({ query, extensions })));
    const { body } = await post(front.url, JSON.stringify({ extensions }));
    expect(body.errors[0].message).to.equal('PersistedQueryNotFound');
  });

  it('joins that multiply requests: one request for equal ones', async () => {
    const { status, body } = await ask(front.url, '{ a: node { next { next { id } } } b: node { next { id } } }');
    expect(status).to.equal(200);
    expect(body.data.a.next.next.id).to.equal('1');
    expect(backend.asked).to.deep.equal(['GET /node']);
  });
});

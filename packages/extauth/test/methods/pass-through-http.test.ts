import type { IncomingMessage, ServerResponse } from 'node:http';
import type { PassThroughAuth } from '@edge-gateway/core/schema';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { extauth } from '../../src/index.ts';
import { guarded, only, secretsOf, start, stopAll, type GuardedParts } from '../harness.ts';

type Http = NonNullable<PassThroughAuth['http']>;

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** An auth server that notes what it is asked. */
async function authServer(answer: (res: ServerResponse) => void) {
  const seen: Seen[] = [];
  const url = await start((req, res) => {
    let body = '';
    req.on('data', (chunk: Buffer) => (body += chunk.toString('utf8')));
    req.on('end', () => {
      seen.push({ method: req.method, url: req.url, headers: req.headers, body });
      answer(res);
    });
  });
  return { seen, url };
}

const own = (http: Http, more: Partial<PassThroughAuth> = {}, parts: GuardedParts = {}) =>
  guarded(only({ passThroughAuth: { http, ...more } }), parts);
const YES = (res: ServerResponse): void => void res.end();

describe('passThroughAuth.http', () => {
  afterEach(stopAll);

  it('posts the configured headers without a body, and allows the request on 200', async () => {
    const { seen, url } = await authServer(YES);
    const { ask } = await own({
      url: `${url}/check?a=1`,
      request: { allowedHeaders: ['X-Token', 'Host'], headersToAdd: { 'x-by': 'gw' } },
    });
    expect((await ask('/', { headers: { 'x-token': 't', cookie: 'secret=1' } })).status).to.equal(200);
    const [{ method, url: path, headers, body } = {} as Seen] = seen;
    expect([method, path, headers['x-token'], headers['x-by'], headers.cookie, body]).to.deep.equal([
      'POST',
      '/check?a=1',
      't',
      'gw',
      undefined,
      '',
    ]);
    expect(url).to.contain(headers.host);
  });

  it('keeps the digits of numbers between steps', async () => {
    const users = await start(
      (_req, res) => void res.end('{"active":true,"sub":"a","id":9007199254740993,"wide":1e22}'),
    );
    const { seen, url } = await authServer((res) => void res.end('{"state":{"next":9007199254740995}}'));
    const request = { passThroughState: true, passThroughFilterMetadata: true };
    const step = { passThroughAuth: { http: { url, request, response: { readStateFromResponse: true } } } };
    const token = { introspectionUrl: users, dynamicMetadataFromClaims: { id: 'id' }, allowHttp: true };
    const { ask } = await guarded({
      configs: [
        { name: 'token', oauth2: { accessTokenValidation: token } },
        { name: 'one', ...step },
        { name: 'two', ...step },
      ],
    });
    expect((await ask('/', { headers: { authorization: 'Bearer t' } })).status).to.equal(200);
    expect(seen[0]!.body).to.contain('"introspection":{"active":true,"sub":"a","id":9007199254740993,"wide":1e22}');
    expect(seen[1]!.body).to.contain('{"next":9007199254740995}');
  });

  it('sends config, state, metadata and body as JSON if configured', async () => {
    const { seen, url } = await authServer(YES);
    const request = { passThroughState: true, passThroughFilterMetadata: true, passThroughBody: true };
    const { ask } = await own({ url, request }, { config: { team: 'a' } }, { settings: { requestBody: {} } });
    expect((await ask('/', { method: 'POST', body: 'hi' })).body).to.equal('2');
    expect(JSON.parse(seen[0]!.body)).to.deep.equal({
      config: { team: 'a' },
      state: {},
      filterMetadata: {},
      body: 'hi',
    });
  });

  it('applies allowed response headers to upstream and client', async () => {
    const { url } = await authServer(
      (res) => void res.writeHead(200, { 'x-a': '1', 'x-b': '2', 'x-c': '3', 'set-cookie': ['s=1', 't=2'] }).end(),
    );
    const { ask } = await own({
      url,
      response: {
        allowedUpstreamHeaders: ['x-a'],
        allowedUpstreamHeadersToOverwrite: ['x-b'],
        allowedClientHeadersOnSuccess: ['set-cookie'],
      },
    });
    const { headers, body } = await ask('/', { headers: { 'x-a': '0', X_A: '0', 'x-b': '0', x_b: '0' } });
    expect(JSON.parse(body)).to.include({ 'x-a': '1', 'x-b': '2' });
    expect(JSON.parse(body)).not.to.have.any.keys('x-c', 'x_a', 'x_b');
    expect(headers['set-cookie']).to.deep.equal(['s=1', 't=2']);
  });

  it('removes grantable headers from client requests, also without a grant', async () => {
    const { url } = await authServer((res) => void res.writeHead(200).end());
    const response = { allowedUpstreamHeaders: ['X-A'], allowedUpstreamHeadersToOverwrite: ['X-B'] };
    const { seen } = await own({ url, response });
    expect(await seen('/', { headers: { 'x-a': '0', x_a: '0', 'x-b': '0' } })).not.to.have.any.keys(
      'x-a',
      'x_a',
      'x-b',
    );
  });

  it('appends to the grants of an earlier step', async () => {
    const [first, second] = await Promise.all(
      ['1', '2'].map((value) => authServer((res) => void res.writeHead(200, { 'x-a': value }).end())),
    );
    const told = { request: { allowedHeaders: ['x-a'] }, response: { allowedUpstreamHeaders: ['x-a'] } };
    const { seen } = await guarded({
      configs: [first!, second!].map(({ url }) => ({ passThroughAuth: { http: { url, ...told } } })),
    });
    expect(await seen('/', { headers: { 'x-a': '0' } })).to.include({ 'x-a': '1, 2' });
    expect(second!.seen[0]!.headers).to.include({ 'x-a': '1' });
  });

  it('relays a denial with the allowed headers only', async () => {
    const { url } = await authServer(
      (res) => void res.writeHead(429, { 'retry-after': '5', 'x-internal': '1' }).end('later'),
    );
    const { ask } = await own({ url, response: { allowedClientHeadersOnDenied: ['retry-after'] } });
    const answer = await ask();
    expect(answer).to.include({ status: 429, body: 'later' });
    expect(answer.headers).to.include({ 'retry-after': '5' });
    expect(answer.headers).not.to.have.property('x-internal');
  });

  it('denies the request for other 2xx statuses, and never relays them', async () => {
    for (const status of [201, 204]) {
      const { url } = await authServer((res) => void res.writeHead(status).end());
      expect((await (await own({ url })).ask()).status).to.equal(403);
    }
  });

  it('does not allow a negated step while the server is down or fails, over HTTP and over gRPC', async () => {
    const { url: broken } = await authServer((res) => void res.writeHead(500).end());
    const { url: garbled } = await authServer((res) => void res.end('no state'));
    const { url: no } = await authServer((res) => void res.writeHead(401).end());
    const behindNot = async (passThroughAuth: PassThroughAuth): Promise<number> => {
      const { ask } = await guarded({ configs: [{ name: 'blocked', passThroughAuth }], booleanExpr: '!blocked' });
      return (await ask()).status;
    };
    expect(await behindNot({ http: { url: 'http://127.0.0.1:1' } })).to.equal(403);
    expect(await behindNot({ http: { url: broken } })).to.equal(500);
    expect(await behindNot({ http: { url: garbled, response: { readStateFromResponse: true } } })).to.equal(403);
    expect(await behindNot({ grpc: { address: '127.0.0.1:1', connectionTimeout: '0.2s' } })).to.equal(403);
    expect(await behindNot({ http: { url: no } })).to.equal(200);
  });

  it('denies the request when the server is down, slow, fails or ends early; failureModeAllow allows it, except for denials', async () => {
    const { url: slow } = await authServer(() => {});
    const { url: failing } = await authServer((res) => void res.writeHead(503).end('stack trace'));
    const { url: ending } = await authServer((res) => void res.destroy());
    const { url: no } = await authServer((res) => void res.writeHead(401).end());
    const cases = [
      ['http://127.0.0.1:1', 403],
      [slow, 403],
      [failing, 503],
      [ending, 403],
    ] as const;
    for (const [url, status] of cases) {
      const http = { url, ...(url === slow && { connectionTimeout: '50ms' }) };
      expect(await (await own(http)).ask(), url).to.include({ status, body: '' });
      expect((await (await own(http, { failureModeAllow: true })).ask()).status, url).to.equal(200);
    }
    expect((await (await own({ url: no }, { failureModeAllow: true })).ask()).status).to.equal(401);
  });

  it('replaces the state of earlier steps with that of the response', async () => {
    const { seen: told, url: first } = await authServer((res) => void res.end('{"state":{"a":1,"b":[true]}}'));
    const { url: second } = await authServer((res) => void res.end('{"state":{"c":{"d":null}}}'));
    const { seen, url } = await authServer(YES);
    const response = { readStateFromResponse: true };
    const request = { passThroughState: true };
    const steps = [
      { url: first, request, response },
      { url: second, response },
      { url, request },
    ];
    const { ask } = await guarded(
      {
        configs: [
          { apiKeyAuth: { k8sSecretApikeyStorage: { apiKeySecretRefs: [{ name: 'alice', namespace: 'n' }] } } },
          ...steps.map((http) => ({ passThroughAuth: { http } })),
        ],
      },
      { secrets: secretsOf({ alice: { 'api-key': 'k-1' } }) },
    );
    expect((await ask('/', { headers: { 'api-key': 'k-1' } })).status).to.equal(200);
    expect(JSON.parse(told[0]!.body)).to.deep.equal({ state: { api_key_value: 'k-1' } });
    expect(JSON.parse(seen[0]!.body)).to.deep.equal({ state: { c: { d: null } } });
  });

  it('denies the request when the state in the response is invalid', async () => {
    const http = { response: { readStateFromResponse: true } };
    for (const body of ['', '{"state":', '{"state":[1]}', '{"state":"a"}', '{"state":null}', '[]', 'null', '<html>']) {
      const { url } = await authServer((res) => void res.end(body));
      expect(await (await own({ url, ...http })).ask(), body).to.include({ status: 403, body: '' });
    }
  });

  /** The response to a request that the auth server rejects, with its bytes. */
  async function denialOf(http: Http): Promise<{ headers: Headers; bytes: Buffer }> {
    const guard = extauth({ config: only({ passThroughAuth: { http } }) });
    const response = await fetch(await start((req, res) => guard(req, res, () => res.end())));
    expect(response.status).to.equal(403);
    return { headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
  }

  it('passes the body of a denial on as bytes', async () => {
    const image = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x00, 0xff, 0xfe]);
    const { url } = await authServer((res) => void res.writeHead(403, { 'content-type': 'image/png' }).end(image));
    const { headers, bytes } = await denialOf({ url, response: { allowedClientHeadersOnDenied: ['content-type'] } });
    expect([headers.get('content-type'), headers.get('content-length')]).to.deep.equal(['image/png', '7']);
    expect(bytes).to.deep.equal(image);
  });

  it('asks for bodies without encoding, and decodes those of servers that encode always', async () => {
    const text = '{"why":"ä"}';
    const { seen, url } = await authServer(
      (res) => void res.writeHead(403, { 'content-encoding': 'gzip' }).end(gzipSync(text)),
    );
    expect((await denialOf({ url })).bytes.toString('utf8')).to.equal(text);
    expect(seen[0]!.headers['accept-encoding']).to.equal('identity');
    const passedOn = await denialOf({ url, response: { allowedClientHeadersOnDenied: ['Content-Encoding'] } });
    expect([passedOn.headers.get('content-encoding'), passedOn.bytes.toString('utf8')]).to.deep.equal(['gzip', text]);
    const { url: unknown } = await authServer((res) => void res.writeHead(403, { 'content-encoding': 'x' }).end('?'));
    expect((await denialOf({ url: unknown })).bytes).to.have.length(0);
  });

  it('sends the accept-encoding of the client if configured, and decodes the state', async () => {
    const { seen, url } = await authServer(
      (res) => void res.setHeader('content-encoding', 'gzip').end(gzipSync('{"state":{"a":1}}')),
    );
    const { ask } = await own({
      url,
      request: { allowedHeaders: ['Accept-Encoding'] },
      response: { readStateFromResponse: true },
    });
    expect((await ask('/', { headers: { 'accept-encoding': 'gzip' } })).status).to.equal(200);
    expect(seen[0]!.headers['accept-encoding']).to.equal('gzip');
  });

  it('throws without an HTTP address', async () => {
    for (const url of ['', 'ftp://x', 'x:1']) {
      expect(await own({ url }).catch((error: unknown) => error)).to.have.property('code', 'ERR_EXTAUTH_CONFIG');
    }
  });
});

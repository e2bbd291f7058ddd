import { expect } from 'chai';
import { createContext, createLoggers, type Context } from '@edge-gateway/core';
import { guarded, only, secretsOf, start, stopAll } from './harness.ts';

/** A context and the lines that were logged with it. */
function noted(): { readonly context: Context; readonly lines: () => string[] } {
  const lines: string[] = [];
  const log = createLoggers({ destination: { write: (line: string) => void lines.push(line) } });
  return { context: createContext({ log, secrets: secretsOf({ empty: {} }) }), lines: () => lines };
}

const settings = { requestTimeout: '5s' };

describe('log lines of external auth', () => {
  afterEach(stopAll);

  it('name the server that rejected the introspection, without the token', async () => {
    const url = await start((_req, res) => void res.writeHead(401).end());
    const { context, lines } = noted();
    const step = { oauth2: { accessTokenValidation: { introspection: { introspectionUrl: `${url}/introspect` } } } };
    const { ask } = await guarded(only(step), { context, settings });
    expect((await ask('/', { headers: { authorization: 'Bearer hidden-token' } })).status).to.equal(403);
    expect(lines().join(''))
      .to.contain(`${new URL(url).host} responded with status 401`)
      .and.not.contain('hidden-token');
  });

  it('name an unreachable server', async () => {
    const { context, lines } = noted();
    const introspection = { introspectionUrl: 'http://127.0.0.1:1/introspect' };
    const { ask } = await guarded(only({ oauth2: { accessTokenValidation: { introspection } } }), {
      context,
      settings,
    });
    expect((await ask('/', { headers: { authorization: 'Bearer a' } })).status).to.equal(403);
    expect(lines().join('')).to.contain('127.0.0.1:1 cannot be reached');
  });

  for (const [what, grpc] of [
    ['HTTP', undefined],
    ['gRPC', { address: '127.0.0.1:1' }],
  ] as const) {
    it(`name an auth server that does not respond over ${what}`, async () => {
      const { context, lines } = noted();
      const passThroughAuth = grpc ? { grpc } : { http: { url: 'http://127.0.0.1:1/check' } };
      const { ask } = await guarded(only({ passThroughAuth }), { context, settings });
      expect((await ask()).status).to.equal(403);
      const line = lines().find((each) => each.includes('no response from the auth server'));
      expect(JSON.parse(line ?? '{}')).to.include({ config: 'config/config_0', server: '127.0.0.1:1' });
    });
  }

  it('contain the status with which an auth server denied the request', async () => {
    const url = await start((_req, res) => void res.writeHead(402).end());
    const { context, lines } = noted();
    const { ask } = await guarded(only({ passThroughAuth: { http: { url } } }), { context, settings });
    expect((await ask()).status).to.equal(402);
    expect(lines().join('')).to.contain('the auth server responded with 402');
  });

  it('do not report a redirect to a login as a denial', async () => {
    const url = await start((_req, res) => void res.writeHead(302, { location: 'https://id.example/' }).end());
    const { context, lines } = noted();
    const http = { url, response: { allowedClientHeadersOnDenied: ['location'] } };
    const { ask } = await guarded(only({ passThroughAuth: { http } }), { context, settings });
    expect((await ask()).status).to.equal(302);
    expect(lines().join('')).to.contain('response sent by auth chain').and.not.contain('request rejected');
  });

  it('name the secret of an API key that is missing or empty', async () => {
    const { context, lines } = noted();
    const apiKeySecretRefs = ['gone', 'empty'].map((name) => ({ name, namespace: 'n' }));
    await guarded(only({ apiKeyAuth: { k8sSecretApikeyStorage: { apiKeySecretRefs } } }), { context });
    const told = lines().map((line) => JSON.parse(line) as { secretRef: string; msg: string });
    expect(told.map(({ secretRef, msg }) => [secretRef, msg])).to.deep.equal([
      ['n.gone', 'the secret of an API key is missing'],
      ['n.empty', 'the secret of an API key has no api-key'],
    ]);
  });

  it('report a key set without usable keys', async () => {
    const url = await start((_req, res) => void res.end('{"keys":[{"kty":"RSA","kid":"a"}]}'));
    const { context, lines } = noted();
    const jwt = { remoteJwks: { url } };
    const { ask } = await guarded(only({ oauth2: { accessTokenValidation: { jwt } } }), { context, settings });
    const head = Buffer.from('{"alg":"RS256","kid":"a"}').toString('base64url');
    expect((await ask('/', { headers: { authorization: `Bearer ${head}.e30.AAAA` } })).status).to.equal(403);
    expect(lines().join('')).to.contain("no key in the key set has an id and the use 'sig'");
  });
});

import { expect } from 'chai';
import { createContext, createLoggers, GatewayError, identityOf } from '@edge-gateway/core';
import { apiKeyAuth, type ApiKeyAuthOptions } from '../../src/index.ts';
import { call, start, stopAll } from '../harness.ts';

describe('apiKeyAuth', () => {
  const lines: string[] = [];
  const log = createLoggers({ level: 'debug', destination: { write: (line: string) => void lines.push(line) } });
  afterEach(stopAll);

  function serve(options: ApiKeyAuthOptions): Promise<string> {
    const guard = apiKeyAuth(options, createContext({ log }));
    return start((req, res) => {
      guard(req, res, (error) => {
        const identity = identityOf(req);
        res.statusCode = error ? 500 : 200;
        res.end(JSON.stringify({ code: (error as GatewayError | undefined)?.code, identity, headers: req.headers }));
      });
    });
  }

  it('allows requests with one of the keys, and identifies its owner', async () => {
    const url = await serve({
      keys: ['k-1', { key: 'k-2', name: 'shop', metadata: { plan: 'gold' } }],
      headersFromMetadata: { 'x-plan': 'plan' },
    });
    const first = JSON.parse((await call(url, { headers: { 'api-key': 'k-1', 'x-plan': 'forged' } })).body);
    expect(first.identity).to.deep.equal({ provider: 'apiKeyAuth', subject: 'key-1', claims: {}, groups: [] });
    expect(first.headers).to.not.have.property('x-plan');
    const second = JSON.parse((await call(url, { headers: { 'api-key': 'k-2', 'x-user-id': 'root' } })).body);
    expect(second.identity.subject).to.equal('shop');
    expect(second.headers).to.include({ 'x-plan': 'gold', 'x-user-id': 'shop' });
  });

  it('rejects other requests, and logs no key', async () => {
    const url = await serve({ keys: ['key-of-the-shop'], headerName: 'X-Key', userIdHeader: 'x-who' });
    for (const headers of [{}, { 'api-key': 'key-of-the-shop' }, { 'x-key': 'wrong-key' }, { 'x-key': '' }]) {
      expect((await call(url, { headers: headers as Record<string, string> })).status).to.equal(401);
    }
    const passed = await call(url, { headers: { 'x-key': 'key-of-the-shop' } });
    expect(JSON.parse(passed.body).headers).to.include({ 'x-who': 'key-1' });
    expect(lines.join('')).to.not.match(/key-of-the-shop|wrong-key/);
  });

  it('passes denials to next(error) with onRefusal: next', async () => {
    const { body } = await call(await serve({ keys: ['k'], onRefusal: 'next' }));
    expect(JSON.parse(body)).to.include({ code: 'ERR_EXTAUTH_DENIED' });
  });

  it('throws for invalid keys, without showing them', () => {
    const bad: unknown[] = [
      [],
      undefined,
      [''],
      [{ key: '' }],
      [{}],
      ['a-secret', 'a-secret'],
      [{ key: 'a-secret', name: '' }],
    ];
    bad.push([
      { key: 'a-secret', name: 'x' },
      { key: 'b', name: 'x' },
    ]);
    for (const keys of bad) {
      expect(() => apiKeyAuth({ keys } as ApiKeyAuthOptions), JSON.stringify(keys))
        .to.throw(GatewayError, /^(?!.*a-secret)/)
        .with.property('code', 'ERR_EXTAUTH_CONFIG');
    }
  });
});

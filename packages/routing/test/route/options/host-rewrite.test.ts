import { expect } from 'chai';
import type { Route } from '@edge-gateway/core';
import { compileHostRewrite } from '../../../src/route/options/host-rewrite.ts';
import { served, type Asked, type Served } from '../../served.ts';

describe('rewrites of the host', () => {
  let gateway: Served;
  afterEach(() => gateway.close());

  async function seen(options: Route['options'], path: string, headers: Asked['headers'] = {}) {
    gateway = await served({ options });
    return (await gateway.seen(path, { headers })).headers;
  }

  it('takes the host from a header', async () => {
    const headers = await seen({ hostRewriteHeader: 'X-Host' }, '/', { 'x-host': 'b.example:8080' });
    expect(headers).to.include({
      host: 'b.example:8080',
      'x-envoy-original-host': 'a.example',
      'x-forwarded-host': 'a.example',
    });
  });

  it('takes a header that headerManipulation added', async () => {
    const requestHeadersToAdd = [{ header: { key: 'x-host', value: 'added.example' } }];
    const headers = await seen({ hostRewriteHeader: 'x-host', headerManipulation: { requestHeadersToAdd } }, '/');
    expect(headers['host']).to.equal('added.example');
  });

  it('keeps the host if the header is missing or empty', async () => {
    const headers = await seen({ hostRewriteHeader: 'x-host' }, '/', { 'x-host': '' });
    expect(headers).to.include({ host: 'a.example' });
    expect(headers).not.to.have.any.keys('x-forwarded-host', 'x-envoy-original-host');
  });

  for (const host of ['a b', 'a.example/..', 'user@b.example', 'a.example, b.example', '[::1', 'a.example:99999'])
    it(`rejects the host ${JSON.stringify(host)} of a header`, async () => {
      gateway = await served({ options: { hostRewriteHeader: 'x-host' } });
      const { status, body } = await gateway.ask('/', { headers: { 'x-host': host } });
      expect([status, JSON.parse(body).code]).to.deep.equal([400, 'ERR_ROUTING_BAD_HOST']);
    });

  it('rejects two headers with a host', async () => {
    gateway = await served({ options: { hostRewriteHeader: 'x-host' } });
    const { status } = await gateway.ask('/', { headers: { 'x-host': ['b.example', 'c.example'] } });
    expect(status).to.equal(400);
  });

  const byPath = { pattern: { regex: '^/tenant/([a-z]+)/.*$' }, substitution: '\\1.example' };

  it('derives the host from the path without the query, before the path is rewritten', async () => {
    const options = { hostRewritePathRegex: byPath, prefixRewrite: '/x' };
    expect(await seen(options, '/tenant/blue/pets?q=/tenant/red/')).to.include({
      host: 'blue.example',
      'x-forwarded-host': 'a.example',
    });
  });

  for (const path of ['/tenant/BLUE/pets', '/other'])
    it(`rejects ${path}, from which no host can be derived`, async () => {
      gateway = await served({ options: { hostRewritePathRegex: byPath } });
      expect((await gateway.ask(path)).status).to.equal(400);
    });

  it('appendXForwardedHost: appends to the value of the client, but not the same value again', async () => {
    const first = await seen({ hostRewrite: 'b.example' }, '/', { 'x-forwarded-host': 'first.example' });
    expect(first['x-forwarded-host']).to.equal('first.example,a.example');
    await gateway.close();
    const again = await seen({ hostRewrite: 'b.example' }, '/', { 'x-forwarded-host': 'first.example, a.example' });
    expect(again['x-forwarded-host']).to.equal('first.example, a.example');
  });

  it('appendXForwardedHost: false leaves the header to the client', async () => {
    const options = { hostRewrite: 'b.example', appendXForwardedHost: false };
    expect(await seen(options, '/')).not.to.have.property('x-forwarded-host');
    await gateway.close();
    const headers = await seen(options, '/', { 'x-forwarded-host': 'first.example' });
    expect(headers['x-forwarded-host']).to.equal('first.example');
  });

  it('suppressEnvoyHeaders: omits the original host', async () => {
    gateway = await served({
      options: { hostRewrite: 'b.example' },
      http: { router: { suppressEnvoyHeaders: true } },
    });
    expect((await gateway.seen('/')).headers).not.to.have.property('x-envoy-original-host');
  });
});

describe('compiled rewrites of the host', () => {
  for (const options of [{ hostRewrite: 'a b' }, { hostRewriteHeader: 'x y' }, { hostRewrite: 'http://a' }])
    it(`throws for ${JSON.stringify(options)}`, () => {
      expect(() => compileHostRewrite(options))
        .to.throw()
        .with.property('code', 'ERR_ROUTING_OPTION');
    });
});

import { expect } from 'chai';
import { compileInternalAddresses, isInternalRequest } from '../../../src/route/options/internal-address.ts';
import { served, type Asked, type Served } from '../../served.ts';

const LOOPBACK = { cidrRanges: [{ addressPrefix: '127.0.0.0', prefixLen: 8 }] };

describe('internalAddressConfig', () => {
  let gateway: Served;
  afterEach(() => gateway.close());

  async function seen(settings: object, headers: Asked['headers']) {
    gateway = await served({ http: { httpConnectionManagerSettings: settings } });
    return (await gateway.seen('/', { headers })).headers;
  }
  const sent = { 'x-envoy-decorator-operation': 'mine', 'x-envoy-internal': 'forged' };

  it('marks requests of internal callers, and keeps their headers', async () => {
    const headers = await seen({ internalAddressConfig: LOOPBACK }, sent);
    expect(headers).to.include({ 'x-envoy-internal': 'true', 'x-envoy-decorator-operation': 'mine' });
  });

  it('keeps the request id of internal callers only', async () => {
    const headers = { 'x-request-id': 'mine' };
    expect((await seen({ internalAddressConfig: LOOPBACK }, headers))['x-request-id']).to.equal('mine');
    await gateway.close();
    expect((await seen({}, headers))['x-request-id']).not.to.equal('mine');
  });

  it('trusts no caller by default', async () => {
    expect(await seen({}, sent)).not.to.have.any.keys('x-envoy-internal', 'x-envoy-decorator-operation');
  });

  it('does not trust other addresses', async () => {
    const cidrRanges = [{ addressPrefix: '10.0.0.0', prefixLen: 8 }];
    const headers = await seen({ internalAddressConfig: { cidrRanges } }, sent);
    expect(headers).not.to.have.any.keys('x-envoy-internal', 'x-envoy-decorator-operation');
  });

  it('does not trust a client that sends x-forwarded-for', async () => {
    const headers = await seen({ internalAddressConfig: LOOPBACK }, { ...sent, 'x-forwarded-for': '127.0.0.1' });
    expect(headers).not.to.have.any.keys('x-envoy-internal', 'x-envoy-decorator-operation');
  });

  it('trusts the only address of x-forwarded-for behind a proxy', async () => {
    const settings = { internalAddressConfig: LOOPBACK, useRemoteAddress: false };
    expect(await seen(settings, { ...sent, 'x-forwarded-for': '127.0.0.9' })).to.include({
      'x-envoy-internal': 'true',
    });
    await gateway.close();
    for (const value of ['127.0.0.9, 127.0.0.8', '1.2.3.4', 'a']) {
      expect(await seen(settings, { ...sent, 'x-forwarded-for': value })).not.to.have.property('x-envoy-internal');
      if (value !== 'a') await gateway.close();
    }
  });

  it('leftmostXffAddress: takes the first address as the client', async () => {
    const responseHeadersToAdd = [{ header: { key: 'x-client', value: '%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT%' } }];
    const host = { headerManipulation: { responseHeadersToAdd } };
    gateway = await served({ host, http: { leftmostXffAddress: true } });
    for (const [given, client] of [
      ['6.6.6.6, 1.1.1.1', '6.6.6.6'],
      ['::ffff:6.6.6.6', '6.6.6.6'],
      ['a, 1.1.1.1', '127.0.0.1'],
      ['', '127.0.0.1'],
    ] as const) {
      const { headers } = await gateway.ask('/', { headers: { 'x-forwarded-for': given } });
      expect(headers['x-client']).to.equal(client);
    }
  });
});

describe('internal addresses', () => {
  it('have ranges of both families, and Unix sockets', () => {
    const cidrRanges = [...LOOPBACK.cidrRanges, { addressPrefix: 'fd00::', prefixLen: 8 }];
    const isInternal = compileInternalAddresses({ cidrRanges, unixSockets: true })!;
    expect(['127.9.9.9', 'fd12::1', ''].map(isInternal)).to.deep.equal([true, true, true]);
    expect(['128.0.0.1', 'fe80::1'].map(isInternal)).to.deep.equal([false, false]);
    expect(isInternalRequest(compileInternalAddresses({ cidrRanges })!, '', undefined, true)).to.equal(false);
  });

  for (const [addressPrefix, prefixLen] of [
    ['a', 8],
    ['10.0.0.0', 33],
    ['', 0],
  ] as const)
    it(`reject the range ${addressPrefix}/${prefixLen}`, () => {
      const config = { cidrRanges: [{ addressPrefix, prefixLen }] };
      expect(() => compileInternalAddresses(config))
        .to.throw()
        .with.property('code', 'ERR_ROUTING_OPTION');
    });
});

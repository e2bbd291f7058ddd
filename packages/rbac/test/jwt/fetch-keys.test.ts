import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { createContext, type CallUpstream } from '@edge-gateway/core';
import { expect } from 'chai';
import { fetchKeysOf } from '../../src/jwt/fetch-keys.ts';

describe('the keys of a provider', () => {
  for (const url of [
    'http://192.0.2.1/keys',
    'http://localhost.example.com/keys',
    'https://user:pw@127.0.0.1:1/keys',
    'ftp://127.0.0.1/keys',
  ])
    it(`are not fetched without HTTPS from another machine: ${url}`, async () => {
      const failure = await fetchKeysOf('main', { url }, createContext())().catch((error: unknown) => error);
      expect(failure).to.include({ code: 'ERR_RBAC_KEYS_UNREACHABLE' });
      expect(failure).to.have.property('message').that.contains('HTTPS');
    });

  it('are read uncompressed, or decoded, and from no other address', async () => {
    const asked: unknown[] = [];
    const server = createServer((req, res) => {
      asked.push(req.headers['accept-encoding']);
      if (req.url === '/moved') return void res.writeHead(302, { location: '/keys' }).end();
      res.setHeader('content-encoding', 'gzip');
      res.end(gzipSync('{"keys":[]}'));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const fetchKeys = (url: string) => fetchKeysOf('main', { url }, createContext())();
    try {
      expect(await fetchKeys(`${base}/keys`)).to.equal('{"keys":[]}');
      const failure = await fetchKeys(`${base}/moved`).catch((error: unknown) => error);
      expect(failure).to.be.an('error');
      expect(asked).to.deep.equal(['identity', 'identity']);
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });

  it('are decoded if an upstream compresses them', async () => {
    const asked: (readonly string[])[] = [];
    const callUpstream: CallUpstream = async (_ref, { headers = [] }) => {
      asked.push(headers);
      return { status: 200, headers: { 'content-encoding': 'gzip' }, body: gzipSync('{"keys":[]}') };
    };
    const remote = { url: 'https://id.test/keys', upstreamRef: { name: 'id', namespace: 'n' } };
    expect(await fetchKeysOf('main', remote, createContext({ callUpstream }))()).to.equal('{"keys":[]}');
    expect(asked[0]!.join()).to.contain('accept-encoding,identity');
  });

  it('are fetched from this machine', async () => {
    const failure = await fetchKeysOf('main', { url: 'http://127.0.0.1:1/keys' }, createContext())().catch(
      (error: unknown) => error,
    );
    expect(failure).to.be.an('error').that.does.not.have.property('code', 'ERR_RBAC_KEYS_UNREACHABLE');
  });
});

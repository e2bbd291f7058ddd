import { once } from 'node:events';
import { connect } from 'node:tls';
import { expect } from 'chai';
import { createContext, type Listener, type TlsConfiguration } from '@edge-gateway/core';
import { createListeners, createRouter, explainRequest, type Listeners, type Router } from '../../src/index.ts';
import { exchange } from '../listen/serving.ts';
import { certificates, secretsOf } from '../upstream/certificates.ts';
import { directOf, endpointOf, hostOf, routeOf, snapshotOf, upstreamOf } from '../snapshots.ts';

interface Case {
  readonly name: string;
  readonly method?: string;
  readonly target?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly status: number;
}

const WEBSOCKET = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  'sec-websocket-version': '13',
};

const CASES: readonly Case[] = [
  { name: 'a request that is served', status: 200 },
  { name: 'TRACE', method: 'TRACE', status: 405 },
  { name: 'CONNECT', method: 'CONNECT', status: 405 },
  { name: 'a method without a registration', method: 'PURGE', status: 405 },
  { name: 'a method that the parser does not know', method: 'FOO', status: 400 },
  { name: 'a method in lower case', method: 'get', status: 400 },
  { name: 'an unknown expectation', headers: { expect: 'tea' }, status: 417 },
  { name: 'the expectation of a 100', headers: { expect: '100-continue' }, status: 200 },
  { name: 'userinfo in Host', headers: { host: 'user@a' }, status: 400 },
  { name: 'a path in Host', headers: { host: 'a/b' }, status: 400 },
  { name: 'an empty Host', headers: { host: '' }, status: 400 },
  { name: 'two Hosts', headers: { host: ['a', 'b'] }, status: 400 },
  { name: 'a port out of range in Host', headers: { host: 'a:70000' }, status: 400 },
  { name: 'two Authorizations', headers: { authorization: ['a', 'b'] }, status: 400 },
  { name: 'two lengths', headers: { 'content-length': ['1', '1'] }, status: 400 },
  { name: 'a length that is not a number', headers: { 'content-length': '+1' }, status: 400 },
  { name: 'a length and a coding', headers: { 'content-length': '1', 'transfer-encoding': 'chunked' }, status: 400 },
  { name: 'a body over the limit', method: 'POST', headers: { 'content-length': '100' }, status: 413 },
  { name: 'a control character in a header', headers: { 'x-a': 'a\u0001b' }, status: 400 },
  { name: '101 headers', headers: { 'x-a': Array.from({ length: 100 }, () => '1') }, status: 431 },
  { name: 'a head of 17 KiB', headers: { 'x-a': 'a'.repeat(17_408) }, status: 431 },
  { name: 'a target of 9 KiB', target: `/${'a'.repeat(9_216)}`, status: 414 },
  { name: 'OPTIONS *', method: 'OPTIONS', target: '*', status: 204 },
  { name: 'GET *', target: '*', status: 400 },
  { name: 'a backslash', target: '/a\\b', status: 400 },
  { name: 'an invalid escape', target: '/%zz', status: 400 },
  { name: 'an escaped NUL', target: '/%00', status: 400 },
  { name: 'letters outside ASCII', target: '/caf\u00e9', status: 400 },
  { name: 'no such route', target: '/none', headers: { 'x-none': '1' }, status: 404 },
  { name: 'a handshake without a key', headers: { ...WEBSOCKET, 'sec-websocket-key': '' }, status: 400 },
  { name: 'a handshake of another version', headers: { ...WEBSOCKET, 'sec-websocket-version': '8' }, status: 426 },
  { name: 'a handshake by POST', method: 'POST', headers: WEBSOCKET, status: 400 },
  { name: 'a handshake on a route without upgrades', target: '/forward', headers: WEBSOCKET, status: 403 },
  { name: 'an upgrade that is ignored', headers: { connection: 'Upgrade, close', upgrade: 'h2c' }, status: 200 },
];

const LISTENER: Partial<Listener> = { httpOptions: { buffer: { maxRequestBytes: 64 } } };

describe('explain and the checks of a listener', () => {
  const context = createContext();
  const snapshot = snapshotOf(
    [
      hostOf([
        directOf('gone', { matchers: [{ prefix: '/none' }], action: { type: 'direct', status: 404, body: '' } }),
        routeOf({ matchers: [{ prefix: '/forward' }], options: { upgrades: [{ websocket: { enabled: false } }] } }),
        directOf('served'),
      ]),
    ],
    [upstreamOf([endpointOf(9)])],
    LISTENER,
  );
  let router: Router;
  let listeners: Listeners;
  let port: number;

  before(async () => {
    router = createRouter({ context, accessLog: 'none' });
    router.apply(snapshot);
    listeners = createListeners({ router, context, host: '127.0.0.1', portOf: () => 0 });
    port = (await listeners.apply(snapshot))[0]!.port!;
  });
  after(async () => {
    await listeners.close();
    await router.close();
  });

  for (const { name, method = 'GET', target = '/', headers = {}, status } of CASES) {
    it(`return the same status for ${name}`, async () => {
      const lines = Object.entries({ host: 'a', ...headers }).flatMap(([key, value]) =>
        [value].flat().map((each) => `${key}: ${each}\r\n`),
      );
      const wire = method === 'CONNECT' ? 'a:80' : Buffer.from(target).toString('latin1');
      const close = 'connection' in headers ? '' : 'connection: close\r\n';
      const { statuses } = await exchange(port, `${method} ${wire} HTTP/1.1\r\n${lines.join('')}${close}\r\n`);
      expect(
        statuses.find((each) => each >= 200),
        'served',
      ).to.equal(status);
      const { outcome } = explainRequest(snapshot, {
        method,
        url: target === '*' ? '*' : `http://a${target}`,
        headers,
      });
      const explained =
        outcome.type === 'forward' ? outcome.destinations[0]!.reply?.status : (outcome as { status?: number }).status;
      expect(explained, 'explained').to.equal(status);
    });
  }
});

const certificateOf = (
  name: string,
  sniDomains: string[],
  more: TlsConfiguration['sslConfig'] = {},
): TlsConfiguration => ({ sniDomains, sslConfig: { secretRef: { name, namespace: 'gw-system' }, ...more } });

const CONNECTIONS: readonly (readonly [serverName: string, host: string, status: number])[] = [
  ['api.example.com', 'api.example.com', 200],
  ['api.example.com', 'admin.example.com', 200],
  ['www.example.com', 'www.example.com', 200],
  ['www.example.com', 'api.example.com:8443', 421],
  ['www.example.com', 'admin.example.com', 421],
  ['www.example.com', 'partners.example.org', 421],
  ['partners.example.org', 'api.example.com', 421],
  ['api.example.com', 'www.example.com', 200],
  ['www.example.com', 'open.example.org', 200],
];

describe('explain and the check of a TLS connection', () => {
  const { ca, server, client } = certificates();
  const pair = { 'tls.crt': server.cert, 'tls.key': server.key };
  const secrets = secretsOf({
    one: pair,
    mutual: { ...pair, 'ca.crt': ca },
    partners: { ...pair, 'ca.crt': ca },
  });
  const context = createContext({ secrets });
  const snapshot = snapshotOf([hostOf([directOf('served')])], [], {
    ssl: true,
    sslConfigurations: [
      certificateOf('mutual', ['api.example.com', 'admin.example.com']),
      certificateOf('partners', ['*.example.org']),
      certificateOf('mutual', ['open.example.org'], { oneWayTls: true }),
      certificateOf('one', []),
    ],
  });
  let router: Router;
  let listeners: Listeners;
  let port: number;

  before(async () => {
    router = createRouter({ context, accessLog: 'none' });
    router.apply(snapshot);
    listeners = createListeners({ router, context, host: '127.0.0.1', portOf: () => 0 });
    port = (await listeners.apply(snapshot))[0]!.port!;
  });
  after(async () => {
    await listeners.close();
    await router.close();
  });

  for (const [servername, host, status] of CONNECTIONS) {
    it(`return ${status} for ${host} on a connection for ${servername}`, async () => {
      const socket = connect({ port, host: '127.0.0.1', servername, rejectUnauthorized: false, ...client });
      let text = '';
      socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
      socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
      await once(socket, 'close');
      expect(text.slice(0, 12), 'served').to.equal(`HTTP/1.1 ${status}`);
      const asked = { method: 'GET', url: `https://${servername}/`, headers: { host } };
      expect(explainRequest(snapshot, asked, context).outcome, 'explained').to.include({ type: 'reply', status });
    });
  }

  it('fail for a server name without a certificate', async () => {
    const named = snapshotOf([hostOf([directOf('served')])], [], {
      ssl: true,
      sslConfigurations: [certificateOf('one', ['www.example.com', '*.example.org'])],
    });
    const own = createListeners({ router, context, host: '127.0.0.1', portOf: () => 0 });
    const ownPort = (await own.apply(named))[0]!.port!;
    const handshake = async (servername: string): Promise<string> => {
      const socket = connect({ port: ownPort, host: '127.0.0.1', servername, rejectUnauthorized: false });
      const event = await Promise.race([
        once(socket, 'secureConnect').then(() => 'open'),
        once(socket, 'close').then(() => 'closed'),
      ]).catch(() => 'closed');
      socket.destroy();
      return event;
    };
    const explained = (host: string) =>
      explainRequest(named, { method: 'GET', url: `https://${host}/` }, context).outcome;
    for (const host of ['www.example.com', 'a.example.org']) {
      expect(await handshake(host), host).to.equal('open');
      expect(explained(host), host).to.include({ type: 'reply', status: 200 });
    }
    for (const host of ['api.example.com', 'example.org']) {
      expect(await handshake(host), host).to.equal('closed');
      const reason = `the TLS handshake fails: no certificate for the server name ${host}`;
      expect(explained(host), host).to.deep.equal({ type: 'reply', status: 0, body: '', reason });
    }
    await own.close();
  });

  it('name the virtual host that requires a client certificate, and both names', () => {
    const asked = { method: 'GET', url: 'https://www.example.com/', headers: { host: 'api.example.com:8443' } };
    const { outcome, virtualHost } = explainRequest(snapshot, asked, context);
    expect(virtualHost).to.include({ name: 'gw-system.host', domain: '*' });
    expect(outcome).to.have.property(
      'reason',
      'ERR_ROUTING_MISDIRECTED: api.example.com requires a client certificate, and the TLS connection is for www.example.com',
    );
  });

  it('explain no rejection while the secrets are unknown', () => {
    const asked = { method: 'GET', url: 'https://www.example.com/', headers: { host: 'api.example.com' } };
    expect(explainRequest(snapshot, asked).outcome).to.include({ status: 200 });
  });
});

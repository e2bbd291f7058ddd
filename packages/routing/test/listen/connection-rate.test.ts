import { once } from 'node:events';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { expect } from 'chai';
import { createContext } from '@edge-gateway/core';
import { certificates, secretsOf } from '../upstream/certificates.ts';
import { listenerOf, serve, snapshotOf, type Serving } from './serving.ts';

describe('networkLocalRatelimit', () => {
  let serving: Serving;
  afterEach(() => serving.close());

  const context = createContext();
  const limited = (maxTokens: number) => ({ networkLocalRatelimit: { maxTokens, fillInterval: '1h' } });

  /** Returns what the client receives on a new connection. */
  async function ask(): Promise<string> {
    const socket = connect(serving.port, '127.0.0.1').on('error', () => {});
    let text = '';
    socket.on('data', (chunk) => (text += String(chunk)));
    socket.write('GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
    await once(socket, 'close');
    return text.slice(0, 15);
  }

  it('closes connections over the limit without a response, and counts them', async () => {
    const httpOptions = limited(2);
    serving = await serve((_req, res) => void res.end('served'), { listener: { httpOptions }, context });
    expect([await ask(), await ask(), await ask()]).to.deep.equal(['HTTP/1.1 200 OK', 'HTTP/1.1 200 OK', '']);
    const metrics = await context.metrics.registry.metrics();
    expect(metrics).to.contain(
      'envoy_local_rate_limit_rate_limited{envoy_local_network_ratelimit_prefix="network_local_rate_limiter"} 1',
    );
  });

  it('closes connections over the limit before their TLS handshake', async () => {
    const { server } = certificates();
    const secret = { 'tls.crt': server.cert, 'tls.key': server.key };
    const configuration = { sslConfig: { secretRef: { name: 'tls', namespace: 'gw-system' } }, sniDomains: [] };
    const listener = { httpOptions: limited(1), ssl: true, sslConfigurations: [configuration] as never };
    let connections = 0;
    const own = createContext({ secrets: secretsOf({ tls: secret } as never) });
    serving = await serve((_req, res) => void res.end(String(++connections)), { listener, context: own });
    const askTls = async (): Promise<string> => {
      const socket = connectTls({ port: serving.port, host: '127.0.0.1', rejectUnauthorized: false });
      let text = '';
      let isSecure = false;
      socket.on('error', () => {}).once('secureConnect', () => (isSecure = true));
      socket.on('data', (chunk) => (text += String(chunk)));
      socket.write('GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
      await new Promise((resolve) => socket.once('close', resolve));
      return `${isSecure} ${text.slice(0, 15)}`;
    };
    expect([await askTls(), await askTls()]).to.deep.equal(['true HTTP/1.1 200 OK', 'false ']);
    expect(connections).to.equal(1);
  });

  it('keeps its tokens when something else of the listener changes, and starts full when the limit does', async () => {
    const httpOptions = limited(1);
    serving = await serve((_req, res) => void res.end('served'), { listener: { httpOptions }, context });
    expect(await ask()).to.equal('HTTP/1.1 200 OK');
    const change = (parts: object) =>
      serving.listeners.apply(snapshotOf(listenerOf({ httpOptions: { ...httpOptions, ...parts } })));
    await change({ connectionLimit: { maxActiveConnections: 7 } });
    expect(await ask()).to.equal('');
    await change(limited(3));
    expect(await ask()).to.equal('HTTP/1.1 200 OK');
    await change({ networkLocalRatelimit: undefined });
    for (let i = 0; i < 5; i++) expect(await ask()).to.equal('HTTP/1.1 200 OK');
  });
});

import { createSign, generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { GatewayProcess, until } from './gateway-process.ts';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const KEYS = JSON.stringify({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k', alg: 'RS256' }] });
const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const signed = `${part({ alg: 'RS256', kid: 'k' })}.${part({ iss: 'me' })}`;
const TOKEN = `${signed}.${createSign('sha256').update(signed).sign(privateKey, 'base64url')}`;

/** A virtual service with one protected route, whose keys the upstream `keys` has. */
const guarded = (name: string, domain: string, asyncFetch: string): string => `
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: ${name} }
spec:
  virtualHost:
    domains: ['${domain}']
    options:
      jwtStaged:
        afterExtAuth:
          providers:
            ${name}: { issuer: me, jwks: { remote: { url: 'http://keys.example/${name}', upstreamRef: { name: keys }, asyncFetch: ${asyncFetch} } } }
    routes:
      - matchers: [{ prefix: / }]
        directResponseAction: { status: 200, body: inside }
`;
const OPEN = `
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: open }
spec:
  virtualHost:
    domains: [open.example]
    routes: [{ matchers: [{ prefix: / }], directResponseAction: { status: 200, body: open } }]
`;
const listener = (name: string, port: number): string => `
apiVersion: gateway.vendor.io/v1
kind: Gateway
metadata: { name: ${name} }
spec: { bindAddress: 127.0.0.1, bindPort: ${port}, httpGateway: {} }
`;
const keysAt = (port: number): string => `
apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: keys }
spec: { static: { hosts: [{ addr: 127.0.0.1, port: ${port} }] } }
`;

describe('keys with asyncFetch', () => {
  let gateway: GatewayProcess;
  let keyServer: Server;
  /** Requests for keys that have no answer yet. */
  let asked: ServerResponse[];
  beforeEach(async () => {
    asked = [];
    gateway = new GatewayProcess();
    keyServer = createServer((_req, res) => void asked.push(res)).listen(0, '127.0.0.1');
    await once(keyServer, 'listening');
    gateway.write('keys.yaml', keysAt((keyServer.address() as AddressInfo).port));
  });
  afterEach(async () => {
    await gateway.close();
    keyServer.closeAllConnections();
    keyServer.close();
  });

  const answerKeys = (): void => asked.splice(0).forEach((res) => res.end(KEYS));
  async function areAskedFor(): Promise<void> {
    if (asked.length === 0) await once(keyServer, 'request');
  }
  async function ask(host: string, url = gateway.url): Promise<string> {
    const { hostname, port } = new URL(url);
    const sent = request({ hostname, port, agent: false, headers: { host, authorization: `Bearer ${TOKEN}` } }).end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    let body = '';
    for await (const chunk of response) body += chunk;
    return `${response.statusCode} ${body}`;
  }
  /** Whether it is settled after a moment in which it would be, did it not wait. */
  async function isSettled(promise: Promise<unknown>): Promise<boolean> {
    return Promise.race([promise.then(() => true), wait(700, false)]);
  }

  it('delay the listeners at startup', async () => {
    gateway.write('a.yaml', guarded('slow', '*', '{}'));
    const started = gateway.start();
    await areAskedFor();
    expect(await isSettled(started)).to.equal(false);
    answerKeys();
    await started;
    expect(await ask('any.example')).to.equal('200 inside');
    expect(gateway.errors).to.not.include('listeners opened before');
  });

  it('do not delay listeners with fastListener: the first request waits instead', async () => {
    gateway.write('a.yaml', guarded('slow', '*', '{ fastListener: true }'));
    await gateway.start();
    await areAskedFor();
    const answer = ask('any.example');
    expect(await isSettled(answer)).to.equal(false);
    answerKeys();
    expect(await answer).to.equal('200 inside');
  });

  it('delay listeners for at most a few seconds, and the log names the provider', async () => {
    gateway.write('a.yaml', guarded('never', 'a.example', '{}'));
    gateway.write('b.yaml', OPEN);
    await gateway.start();
    await until(() => gateway.errors.includes('listeners opened before warm-up completed'), 'the warning');
    expect(gateway.errors).to.include('key set of JWT provider never');
    expect(await ask('open.example')).to.equal('200 open');
  });

  it('do not delay listeners if their server fails', async () => {
    keyServer.close();
    gateway.write('a.yaml', guarded('down', 'a.example', '{}'));
    gateway.write('b.yaml', OPEN);
    await gateway.start();
    expect(await ask('open.example')).to.equal('200 open');
    expect(await ask('a.example')).to.equal('401 Jwks remote fetch is failed');
    const timeOf = (message: string): number =>
      Number(new RegExp(`"time":(\\d+).*"msg":"${message}`).exec(gateway.errors)?.[1]);
    // With the time that it waits for others they would be five seconds apart.
    const apart = timeOf('listeners opened before') - timeOf('failed to fetch key set');
    expect(apart).to.be.within(0, 4000);
  });

  it('delay only new listeners on a reload', async () => {
    gateway.write('b.yaml', OPEN);
    gateway.write('first.yaml', listener('first', await freePort()));
    await gateway.start();
    const port = await freePort();
    gateway.write('more.yaml', `${guarded('slow', 'a.example', '{}')}---${listener('more', port)}`);
    await areAskedFor();
    expect(await ask('open.example')).to.equal('200 open');
    const waiting = ask('a.example');
    expect(await isSettled(waiting)).to.equal(false);
    const onNewPort = () => ask('open.example', `http://127.0.0.1:${port}`).catch((error: Error) => error.message);
    expect(await onNewPort()).to.include('ECONNREFUSED');
    gateway.write('b.yaml', OPEN.replace('body: open', 'body: changed'));
    await until(async () => (await ask('open.example')) === '200 changed', 'the change is served meanwhile');
    answerKeys();
    expect(await waiting).to.equal('200 inside');
    await until(async () => (await onNewPort()) === '200 changed', 'the new listener is open');
  });

  it('are abandoned by a gateway that stops', async () => {
    gateway.write('b.yaml', OPEN);
    await gateway.start();
    gateway.write('a.yaml', guarded('never', 'a.example', '{}'));
    await areAskedFor();
    gateway.child.kill('SIGTERM');
    expect(await gateway.ended()).to.equal(0);
  });
});

async function freePort(): Promise<number> {
  const server = createTcpServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

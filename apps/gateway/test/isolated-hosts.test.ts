import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type IncomingHttpHeaders } from 'node:http2';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { GatewayProcess, until } from './gateway-process.ts';

const CERTIFICATES = new URL('../../../packages/routing/test/upstream/certificates/', import.meta.url).pathname;
const pem = (file: string): string => readFileSync(`${CERTIFICATES}${file}`, 'utf8');

const files = (rootCa: boolean): string =>
  `{ tlsCert: ${CERTIFICATES}server.crt, tlsKey: ${CERTIFICATES}server.key${rootCa ? `, rootCa: ${CERTIFICATES}ca.crt` : ''} }`;

const service = (name: string, rootCa: boolean): string => `---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: ${name} }
spec:
  sslConfig:
    sniDomains: [${name}.example.com]
    sslFiles: ${files(rootCa)}
  virtualHost:
    domains: ['${name}.example.com', '${name}.example.com:443']
    routes: [{ matchers: [{ prefix: / }], directResponseAction: { status: 200, body: ${name} } }]
`;

const settings = (isolated: boolean): string => `---
apiVersion: settings.gw.vendor.io/v1
kind: Settings
metadata: { name: default, namespace: gw-system }
spec: { gateway: { isolateVirtualHostsBySslConfig: ${isolated} } }
`;

describe('virtual hosts with client certificates', () => {
  let gateway: GatewayProcess;
  beforeEach(() => (gateway = new GatewayProcess()));
  afterEach(() => gateway.close());

  const portOf = (): number => gateway.ready.listeners.find(({ protocol }) => protocol === 'https')!.port;

  /** Opens an HTTP/2 connection; the result asks for hosts on it. */
  async function open(servername: string) {
    const session = connect(`https://127.0.0.1:${portOf()}`, {
      servername,
      ca: pem('ca.crt'),
      rejectUnauthorized: false,
    });
    session.on('error', () => {});
    await once(session, 'connect');
    return {
      close: () => session.destroy(),
      async statusOf(authority: string): Promise<number> {
        const stream = session.request({ ':authority': authority });
        const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders];
        stream.resume();
        await once(stream, 'close');
        return Number(headers[':status']);
      },
    };
  }

  /** Makes a handshake, perhaps with the session of another one, and a request. */
  async function handshake(servername: string, maxVersion: 'TLSv1.2' | 'TLSv1.3', session?: Buffer) {
    const socket: TLSSocket = connectTls({
      port: portOf(),
      host: '127.0.0.1',
      servername,
      maxVersion,
      rejectUnauthorized: false,
      session,
    });
    let issued: Buffer | undefined;
    let text = '';
    socket.on('error', () => {}).on('session', (each) => (issued = each));
    socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
    socket.once('secureConnect', () => {
      socket.write(`GET / HTTP/1.1\r\nHost: ${servername}\r\nConnection: close\r\n\r\n`);
    });
    await new Promise((resolve) => socket.once('close', resolve));
    return { issued, isServed: text.startsWith('HTTP/1.1 200') };
  }

  for (const isolated of [true, false]) {
    it(`are not reached over another connection, ${isolated ? 'isolated' : 'shared'}`, async () => {
      gateway.write('a.yaml', `${settings(isolated)}${service('open', false)}${service('mutual', true)}`);
      await gateway.start();
      const connection = await open('open.example.com');
      expect(await connection.statusOf('open.example.com')).to.equal(200);
      for (const host of ['mutual.example.com', 'MUTUAL.example.com', 'mutual.example.com:443', 'mutual.example.com.'])
        expect(await connection.statusOf(host), host).to.be.oneOf([404, 421]);
      connection.close();
      for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
        const first = await handshake('open.example.com', version);
        expect(first.isServed).to.equal(true);
        expect((await handshake('mutual.example.com', version, first.issued)).isServed, version).to.equal(false);
      }
    });

    it(`are not reached over connections older than the requirement, ${isolated ? 'isolated' : 'shared'}`, async () => {
      gateway.write('a.yaml', `${settings(isolated)}${service('open', false)}${service('mutual', false)}`);
      await gateway.start();
      const connection = await open('mutual.example.com');
      const before = await handshake('mutual.example.com', 'TLSv1.2');
      expect(await connection.statusOf('mutual.example.com')).to.equal(200);
      gateway.write('a.yaml', `${settings(isolated)}${service('open', false)}${service('mutual', true)}`);
      await until(async () => !(await handshake('mutual.example.com', 'TLSv1.3')).isServed, 'it is required');
      expect(await connection.statusOf('mutual.example.com')).to.be.oneOf([404, 421]);
      expect((await handshake('mutual.example.com', 'TLSv1.2', before.issued)).isServed).to.equal(false);
      expect((await handshake('open.example.com', 'TLSv1.3')).isServed).to.equal(true);
      connection.close();
    });
  }
});

import { expect } from 'chai';
import { parseAllDocuments } from 'yaml';
import type { Io } from '../../src/io.ts';
import { answer, at, recordedAnswers, type Handle } from '../support/answering-server.ts';
import { call, type Outcome } from '../support/captured-io.ts';

async function proxy(
  argv: string[],
  more: Record<string, unknown> = {},
  io: Partial<Io> = {},
): Promise<Outcome & { asked: readonly string[] }> {
  const server = await answer({ ...recordedAnswers(), ...more });
  const outcome = await call(['proxy', ...argv, ...at(server)], io);
  await server.close();
  return { ...outcome, asked: server.asked };
}

/** What every command asks for the warning of other versions. */
const OF_VERSION = ['GET /version', 'GET /server_info'];

describe('proxy', () => {
  it('prints the plain address by default, the TLS one by --port https, and a port by number', async () => {
    expect((await proxy(['address'])).stdout).to.equal('127.0.0.1:8080\n');
    expect((await proxy(['address', '--port', 'https'])).stdout).to.equal('127.0.0.1:8443\n');
    expect((await proxy(['--port', '8443', 'address'])).stdout).to.equal('127.0.0.1:8443\n');
  });

  it('prints a URL with a scheme for the named ports only', async () => {
    expect((await proxy(['url'])).stdout).to.equal('http://127.0.0.1:8080\n');
    expect((await proxy(['url', '--port', 'https'])).stdout).to.equal('https://127.0.0.1:8443\n');
    expect((await proxy(['url', '--port', '8443'])).stdout).to.equal('127.0.0.1:8443\n');
  });

  it('puts an IPv6 address into brackets', async () => {
    const listeners = {
      listener_statuses: [{ name: 'a', local_address: { socket_address: { address: '::1', port_value: 80 } } }],
    };
    expect((await proxy(['url'], { '/listeners': listeners })).stdout).to.equal('http://[::1]:80\n');
  });

  it('lists the ports if the requested one does not exist, or if there is none', async () => {
    expect(await proxy(['address', '--port', 'grpc'])).to.include({
      code: 1,
      stderr: 'Error: named port grpc not found; the proxy listens on: http (8080), https (8443)\n',
    });
    const { code, stderr } = await proxy(['address'], { '/listeners': { listener_statuses: [] } });
    expect(code).to.equal(1);
    expect(stderr).to.contain('the proxy listens on no address');
  });

  it('rejects an invalid list of listeners', async () => {
    for (const listeners of ['text', '[1]', 'null', '{"listener_statuses":1}']) {
      expect((await proxy(['address'], { '/listeners': listeners })).stderr).to.contain('check --proxy-admin');
    }
  });

  it('prints the dump with endpoints, requested by POST, and the statistics', async () => {
    const dump = await proxy(['dump'], { '/config_dump': '{"configs":[]}' });
    expect(dump.stdout).to.equal('{"configs":[]}\n');
    expect(dump.asked).to.deep.equal([...OF_VERSION, 'POST /config_dump?include_eds']);
    expect((await proxy(['stats'])).stdout).to.contain('server.live: 1\n');
  });

  it('makes control characters visible', async () => {
    expect((await proxy(['dump'], { '/config_dump': '{"a":"\u001b[31m"}' })).stdout).to.equal('{"a":"\\u001b[31m"}\n');
    expect((await proxy(['stats'], { '/stats': 'a\u009b: 1\n' })).stdout).to.equal('a\\u009b: 1\n');
  });

  describe('logs', () => {
    const LINES = '{"msg":"one"}\n{"msg":"\u001b[31mtwo"}\n';

    it('prints the newest lines, control characters made visible, and changes nothing', async () => {
      const { code, stdout, stderr, asked } = await proxy(['logs'], { '/logs': LINES });
      expect({ code, stdout, stderr }).to.deep.equal({
        code: 0,
        stdout: '{"msg":"one"}\n{"msg":"\\u001b[31mtwo"}\n',
        stderr: '',
      });
      expect(asked).to.deep.equal([...OF_VERSION, 'GET /logs']);
    });

    it('prints readable lines on a terminal', async () => {
      const lines = [1, 2].map((n) => `{"level":40,"time":0,"logger":"main","msg":"event ${n}","port":${n}}\n`);
      const readable = /^\d\d:\d\d:\d\d WARN  main: event 1 port=1\n\d\d:\d\d:\d\d WARN  main: event 2 port=2\n$/;
      const terminal = { isTTY: true, env: { NO_COLOR: '1' } };
      const newest = await proxy(['logs'], { '/logs': lines.join('') }, terminal);
      expect(newest.stdout).to.match(readable);
      expect((await proxy(['logs'], { '/logs': lines.join('').trimEnd() }, terminal)).stdout).to.match(readable);
      const inParts: Handle = (_, res) => {
        res.write(lines.join('').slice(0, 20));
        setImmediate(() => res.end(lines.join('').slice(20)));
      };
      const followed = await proxy(['logs', '-f', '-d', 'false'], { '/logs': inParts }, terminal);
      expect(followed.stdout).to.match(readable);
    });

    it('reports in one line that the gateway has no such page', async () => {
      const { code, stderr } = await proxy(['logs']);
      expect(code).to.equal(1);
      expect(stderr).to.match(/^Error: [^\n]*\/logs answered 404[^\n]*\n$/);
    });

    it('reports that the gateway closed the connection while it followed', async () => {
      const { code, stdout, stderr } = await proxy(['logs', '-f', '-d', 'false'], { '/logs': LINES });
      expect({ code, stderr }).to.deep.equal({ code: 1, stderr: 'Error: the gateway closed the connection\n' });
      expect(stdout).to.contain('one');
    });

    it('rejects other values of --debug', async () => {
      expect(await proxy(['logs', '-d', 'maybe'])).to.include({ code: 2, stdout: '' });
    });
  });

  describe('served-config', () => {
    const snapshot = {
      proxy: 'gateway-proxy',
      version: 'v1',
      listeners: [{ name: 'listener-::-8080', virtualHosts: [{ name: 'gw-system.a', routes: [] }] }],
      upstreams: [{ name: 'echo_gw-system', endpoints: [{ address: '127.0.0.1', port: 1 }], spec: { salt: 'hidden' } }],
    };
    const xds = { '/snapshots/xds': { data: { 'gw-system~gateway-proxy': snapshot } } };

    it('prints the role and the four sections as YAML', async () => {
      const { code, stdout } = await proxy(['served-config'], xds);
      expect(code).to.equal(0);
      expect(stdout.match(/^#.*$/gm)).to.deep.equal([
        '#role: gw-system~gateway-proxy',
        '#clusters',
        '#eds',
        '#listeners',
        '#rds',
      ]);
      const parsed = parseAllDocuments(stdout.split('#eds\n')[1]!.split('#listeners')[0]!)[0]!.toJS() as unknown;
      expect(parsed).to.deep.equal([{ cluster: 'echo_gw-system', endpoints: [{ address: '127.0.0.1', port: 1 }] }]);
      expect(stdout).to.not.contain('hidden');
    });

    it('lists the proxies if the requested one is not served', async () => {
      expect(await proxy(['served-config', '--name', 'other'], xds)).to.include({
        code: 1,
        stderr: 'Error: proxy other not found; the control plane serves: gateway-proxy\n',
      });
    });

    it('rejects snapshots that are none', async () => {
      for (const data of [
        'text',
        { a: 1 },
        { a: { listeners: [], upstreams: 1 } },
        { a: { listeners: [1], upstreams: [] } },
      ]) {
        expect((await proxy(['served-config'], { '/snapshots/xds': { data } })).stderr).to.contain('check --server');
      }
    });
  });
});

import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { GATEWAY } from '../../../test/parts/programs.ts';
import { until } from './gateway-process.ts';

const PORTS = ['http', 'https', 'admin', 'stats', 'dev-admin'].map((name) => `--${name}-port 0`).join(' ');
const RESOURCES = `
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: direct }
spec:
  virtualHost:
    domains: ['*']
    routes:
      - matchers: [{ exact: /hello }]
        directResponseAction: { status: 200, body: hello }
`;

describe('the logs on a terminal', function () {
  this.timeout(30_000);
  const directory = mkdtempSync(join(tmpdir(), 'terminal-'));
  let script: ChildProcess;
  let screen = '';

  before(async () => {
    writeFileSync(join(directory, 'a.yaml'), RESOURCES);
    const command = `"${process.execPath}" "${GATEWAY.join('" "')}" --config "${directory}" ${PORTS}`;
    const args =
      process.platform === 'linux' ? ['-qec', command, '/dev/null'] : ['-q', '/dev/null', 'sh', '-c', command];
    script = spawn('script', args, { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, NO_COLOR: '1' } });
    script.stdout!.on('data', (chunk: Buffer) => (screen += chunk.toString().replaceAll('\r\n', '\n')));
    await until(() => /main: ready .*\n/.test(screen), 'the gateway is ready');
  });

  after(async () => {
    const ended = new Promise((resolve) => script.once('close', resolve));
    await fetch(`http://127.0.0.1:${/adminPort=(\d+)/.exec(screen)![1]}/quitquitquit`, { method: 'POST' });
    await ended;
    rmSync(directory, { recursive: true });
  });

  it('show each request on one readable line, as the program log', async () => {
    const port = /listeners=http:(\d+)/.exec(screen)![1];
    for (const path of ['hello', 'nothing']) await (await fetch(`http://127.0.0.1:${port}/${path}`)).text();
    const host = `127\\.0\\.0\\.1:${port}`;
    const line = (rest: string): RegExp => new RegExp(`^\\d\\d:\\d\\d:\\d\\d GET ${host}/${rest}$`, 'm');
    await until(() => line('nothing 404 [\\d.]+ms NR route_not_found').test(screen), 'the second line is written');
    expect(screen).to.match(line('hello 200 [\\d.]+ms direct_response'));
    expect(screen).not.to.contain('{');
  });
});

import { Agent, get } from 'node:http';
import { expect } from 'chai';
import { GatewayProcess, until } from './gateway-process.ts';

const RESOURCES = `
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: direct }
spec:
  virtualHost:
    domains: ['*']
    routes:
      - matchers: [{ prefix: / }]
        directResponseAction: { status: 200, body: hi }
`;
/** Makes a line of about 8 KB. */
const LONG = 'x'.repeat(7_900);
/** Lines that are more than the 16 MiB that may wait. */
const MANY = 3_000;

describe('the access log with a slow reader', function () {
  this.timeout(60_000);
  let gateway: GatewayProcess;
  let agent: Agent;
  beforeEach(() => {
    gateway = new GatewayProcess();
    gateway.write('a.yaml', RESOURCES);
    agent = new Agent({ keepAlive: true, maxSockets: 64 });
  });
  afterEach(async () => {
    agent.destroy();
    await gateway.close();
  });

  const ask = (path: string): Promise<number> =>
    new Promise((resolve, reject) => {
      get(gateway.url + path, { agent }, (res) => res.resume().on('end', () => resolve(res.statusCode!))).on(
        'error',
        reject,
      );
    });

  async function askMany(amount: number): Promise<void> {
    const statuses = await Promise.all(Array.from({ length: amount }, (_, i) => ask(`/${i}/${LONG}`)));
    expect(new Set(statuses)).to.deep.equal(new Set([200]));
  }

  async function stat(name: string): Promise<number> {
    const text = await (await fetch(`${gateway.admin}/stats`)).text();
    return Number(new RegExp(`^access_log\\.${name}: (\\d+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
  }
  const dropped = (): Promise<number> => stat('_dev_stdout\\.lines_dropped');

  /** Lines so far, each whole. */
  function lines(): number {
    const written = gateway.output.split('\n').slice(0, -1);
    for (const line of written) JSON.parse(line);
    return written.length;
  }

  /** Reads about four megabytes a second. */
  function readSlowly(): void {
    const { stdout } = gateway.child;
    stdout!.on('data', () => {
      stdout!.pause();
      setTimeout(() => stdout!.resume(), 15);
    });
  }

  it('drop: keeps serving, drops lines beyond the limit, and counts them', async () => {
    await gateway.start();
    gateway.child.stdout!.pause();
    await askMany(MANY);
    const lost = await dropped();
    expect(lost).to.be.within(500, 1_500);
    gateway.child.stdout!.resume();
    await until(() => lines() === MANY - lost, 'all other lines are written');
    await until(() => gateway.errors.includes('access log lines dropped'), 'the loss is reported');
    expect(gateway.errors).to.contain(`"dropped":${lost}`);
    const metrics = await (await fetch(`${gateway.admin}/stats/prometheus`)).text();
    expect(metrics).to.contain(`access_log_lines_dropped{path="/dev/stdout"} ${lost}`);
  });

  it('drop: loses no line to a reader that is slower than the requests', async () => {
    await gateway.start();
    const { stdout } = gateway.child;
    let pauses = 0;
    stdout!.on('data', () => {
      pauses++;
      stdout!.pause();
      setTimeout(() => stdout!.resume(), 100);
    });
    const statuses = await Promise.all(Array.from({ length: MANY }, (_, i) => ask(`/${i}`)));
    expect(new Set(statuses)).to.deep.equal(new Set([200]));
    expect(lines()).to.be.lessThan(MANY);
    await until(() => lines() === MANY, 'every line is written');
    expect(pauses).to.be.greaterThan(10);
    expect(await dropped()).to.equal(0);
    const paths = gateway.output
      .split('\n')
      .slice(0, -1)
      .map((line) => (JSON.parse(line) as { path: string }).path);
    expect(new Set(paths).size).to.equal(MANY);
  });

  it('block: delays requests instead of losing lines', async () => {
    await gateway.start('--access-log-overflow', 'block');
    readSlowly();
    await askMany(MANY);
    expect(await dropped()).to.equal(0);
    expect(await stat('requests_held')).to.be.greaterThan(100);
    await until(() => lines() === MANY, 'every line is written');
  });

  it('block: continues after five seconds if the reader stalls', async () => {
    await gateway.start('--access-log-overflow', 'block');
    gateway.child.stdout!.pause();
    await askMany(400);
    const held = await stat('requests_held');
    expect(held).to.be.greaterThan(0);
    await askMany(64);
    expect(await stat('requests_held')).to.equal(held);
    gateway.child.stdout!.resume();
    await until(() => lines() === 464, 'every line is written');
    expect(await dropped()).to.equal(0);
  });

  it('writes every line before it exits after SIGTERM', async () => {
    await gateway.start();
    readSlowly();
    await askMany(1_000);
    gateway.child.kill('SIGTERM');
    expect(await gateway.ended()).to.equal(0);
    expect(lines()).to.equal(1_000);
  });

  it('writes no line with an empty list of logs', async () => {
    gateway.write(
      'gateway.yaml',
      `apiVersion: gateway.vendor.io/v1
kind: Gateway
metadata: { name: quiet, namespace: gw-system }
spec:
  bindAddress: 127.0.0.1
  bindPort: 0
  proxyNames: [gateway-proxy]
  httpGateway: {}
  options: { accessLoggingService: { accessLog: [] } }
`,
    );
    await gateway.start();
    await askMany(10);
    gateway.child.kill('SIGTERM');
    expect(await gateway.ended()).to.equal(0);
    expect(gateway.output).to.equal('');
  });
});

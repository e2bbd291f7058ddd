import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createContext, silentLoggers, type Listener } from '@edge-gateway/core';
import { expect } from 'chai';
import { createRouter, type Router } from '../../src/router.ts';
import { directOf, hostOf, LISTENER, snapshotOf, start, stopAll } from '../snapshots.ts';

async function request(port: number, path: string, method = 'GET') {
  return await new Promise<{ status: number; connection: unknown; body: string }>((resolve, reject) => {
    const options = { port, host: '127.0.0.1', path, method, headers: { host: 'a.example' }, agent: false } as const;
    const req = httpRequest(options, (res) => {
      let body = '';
      res.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
      res.on('end', () => resolve({ status: res.statusCode!, connection: res.headers.connection, body }));
    });
    req.on('error', reject).end();
  });
}

describe('the health path of a listener', () => {
  let router: Router | undefined;
  let healthy = true;

  async function serve(listener: Partial<Listener>): Promise<{ port: number; total(): number }> {
    const context = createContext({ log: silentLoggers });
    healthy = true;
    const created = createRouter({ context, isHealthy: () => healthy });
    router = created;
    created.apply(snapshotOf([hostOf([directOf('routed')], { domains: ['a.example'] })], [], listener));
    const handler = created.listener(LISTENER);
    const { port } = await start((req, res) => handler(req, res, () => res.destroy()));
    const total = (): number => {
      const found = context.metrics.list().find(({ name }) => name.path === 'http.http.downstream_rq_total')!;
      return found.type === 'histogram' ? -1 : found.stat.value;
    };
    return { port, total };
  }

  const httpOptions: Listener['httpOptions'] = { healthCheck: { path: '/healthz' } };

  afterEach(async () => {
    await router?.close();
    await stopAll();
  });

  it('responds with 200 itself, by any method, and counts no request', async () => {
    const { port, total } = await serve({ httpOptions });
    expect(await request(port, '/healthz')).to.deep.include({ status: 200, body: '' });
    expect(await request(port, '/healthz', 'HEAD')).to.deep.include({ status: 200 });
    expect(total()).to.equal(0);
  });

  for (const path of ['/healthz?a', '/healthz/', '/Healthz', '/', '/healthz%20']) {
    it(`routes ${path}`, async () => {
      const { port, total } = await serve({ httpOptions });
      expect(await request(port, path)).to.deep.include({ status: 200, body: 'routed' });
      expect(total()).to.equal(1);
    });
  }

  it('responds with 503 and closes the connection while the proxy is not healthy', async () => {
    const { port } = await serve({ httpOptions });
    healthy = false;
    expect(await request(port, '/healthz')).to.deep.equal({ status: 503, connection: 'close', body: '' });
    expect((await request(port, '/other')).status, 'other requests are served').to.equal(200);
    healthy = true;
    expect((await request(port, '/healthz')).status).to.equal(200);
  });

  it('is not used if the listener has none', async () => {
    const { port } = await serve({});
    expect((await request(port, '/healthz')).body).to.equal('routed');
  });

  it('is logged, unless a filter leaves health checks out', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'health-path-'));
    const stringFormat = '%REQ(:PATH)% %RESPONSE_CODE% %RESPONSE_CODE_DETAILS%\n';
    const options: Listener['options'] = {
      accessLoggingService: {
        accessLog: [
          { fileSink: { path: join(folder, 'all.log'), stringFormat } },
          { fileSink: { path: join(folder, 'some.log'), stringFormat }, filter: { notHealthCheckFilter: {} } },
        ],
      },
    };
    const { port } = await serve({ httpOptions, options });
    await request(port, '/healthz');
    await request(port, '/a');
    await router!.close();
    expect(await readFile(join(folder, 'all.log'), 'utf8')).to.equal(
      '/healthz 200 health_check_ok\n/a 200 direct_response\n',
    );
    expect(await readFile(join(folder, 'some.log'), 'utf8')).to.equal('/a 200 direct_response\n');
    await rm(folder, { recursive: true });
  });
});

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Listener } from '@edge-gateway/core';
import { served, type Served } from '../../served.ts';
import { until } from '../../../../../test/parts/until.ts';

const abort = { percentage: 100, httpStatus: 418 };
const delay = { percentage: 100, fixedDelay: '1s' };

describe('faults', () => {
  let gateway: Served;
  let folder: string;
  let listener: Partial<Listener>;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'faults-'));
    const path = join(folder, 'access.log');
    const stringFormat = '%RESPONSE_CODE% %RESPONSE_FLAGS% %RESPONSE_CODE_DETAILS%\n';
    listener = { options: { accessLoggingService: { accessLog: [{ fileSink: { path, stringFormat } }] } } };
  });

  afterEach(() => rm(folder, { recursive: true }));

  /** Closes the gateway and returns what it logged. */
  async function closed(): Promise<string> {
    await gateway.close();
    return (await readFile(join(folder, 'access.log'), 'utf8')).trim();
  }

  it('aborts requests before they reach the upstream', async () => {
    gateway = await served({ options: { faults: { abort } }, listener, upstreams: [] });
    const { status, body, headers } = await gateway.ask('/');
    expect([status, body, headers['content-type']]).to.deep.equal([418, 'fault filter abort', 'text/plain']);
    expect(gateway.stat('http.http.fault.aborts_injected')).to.equal(1);
    expect(await closed()).to.equal('418 FI fault_filter_abort');
  });

  it('delays requests', async () => {
    gateway = await served({ options: { faults: { delay } }, listener });
    const begun = performance.now();
    expect((await gateway.ask('/')).status).to.equal(200);
    expect(performance.now() - begun).to.be.greaterThan(990);
    expect(gateway.stat('http.http.fault.delays_injected')).to.equal(1);
    expect(await closed()).to.equal('200 DI via_upstream');
  });

  it('aborts delayed requests', async () => {
    gateway = await served({ options: { faults: { abort, delay } }, listener });
    expect((await gateway.ask('/')).status).to.equal(418);
    expect(await closed()).to.equal('418 DI,FI fault_filter_abort');
  });

  it('affects the given share of requests', async () => {
    gateway = await served({ options: { faults: { abort: { percentage: 50, httpStatus: 503 } } }, listener });
    const statuses = new Set<number>();
    for (let i = 0; i < 60; i++) statuses.add((await gateway.ask('/')).status);
    expect([...statuses].sort()).to.deep.equal([200, 503]);
    await closed();
  });

  it('affects no request without a percentage', async () => {
    const faults = { abort: { httpStatus: 503 }, delay: { fixedDelay: '1h' } };
    gateway = await served({ options: { faults }, listener });
    expect((await gateway.ask('/')).status).to.equal(200);
    expect(await closed()).to.equal('200 - via_upstream');
  });

  it('ends a delay if the client disconnects', async () => {
    gateway = await served({ options: { faults: { delay: { percentage: 100, fixedDelay: '1h' } } }, listener });
    const req = httpRequest({ port: gateway.port, host: '127.0.0.1', agent: false }).on('error', () => {});
    req.end();
    await until(() => gateway.stat('http.http.fault.active_faults') === 1);
    req.destroy();
    await until(() => gateway.stat('http.http.fault.active_faults') === 0);
    expect(gateway.stat('http.http.downstream_rq_active')).to.equal(0);
    expect(await closed()).to.equal('0 DI,DC -');
  });

  it('ends all delays when the gateway drains', async () => {
    gateway = await served({ options: { faults: { delay: { percentage: 100, fixedDelay: '1h' } } }, listener });
    const response = gateway.ask('/');
    await until(() => gateway.stat('http.http.fault.active_faults') === 1);
    gateway.router.drain();
    expect((await response).status).to.equal(200);
    await closed();
  });

  it('aborts upgrades', async () => {
    gateway = await served({ options: { faults: { abort } }, listener });
    const headers = { connection: 'upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' };
    const key = { 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' };
    expect((await gateway.ask('/', { headers: { ...headers, ...key } })).status).to.equal(418);
    await closed();
  });
});

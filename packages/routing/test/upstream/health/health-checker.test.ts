import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createContext, silentLoggers } from '@edge-gateway/core';
import { expect } from 'chai';
import { closeAll, httpUpstream, until, whenDone } from '../../forward/harness.ts';
import { checkedUpstream, OFTEN } from './checked.ts';

const CHECK = { httpHealthCheck: { path: '/health' } };

/** An upstream whose health can be set. */
async function switchedUpstream(): Promise<{ port: number; status: number; requests: number }> {
  const upstream = { port: 0, status: 200, requests: 0 };
  upstream.port = await httpUpstream((_req, res) => {
    upstream.requests++;
    res.writeHead(upstream.status).end();
  });
  return upstream;
}

describe('the health checker of an upstream', () => {
  afterEach(closeAll);

  it('stops and resumes using hosts at the thresholds', async () => {
    const upstream = await switchedUpstream();
    const checked = checkedUpstream(upstream.port, { ...CHECK, healthyThreshold: 3 });
    await checked.becomes(true);
    upstream.status = 500;
    await checked.becomes(false);
    const before = checked.stat('health_check.success');
    upstream.status = 200;
    await checked.becomes(true);
    expect(checked.stat('health_check.success') - before).to.be.at.least(3);
  });

  it('writes the locality of the host in events', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'health-events-'));
    whenDone(() => rmSync(folder, { recursive: true }));
    const eventLogPath = join(folder, 'events.log');
    const upstream = await switchedUpstream();
    upstream.status = 500;
    const locality = { region: 'eu', zone: 'eu-1', subZone: 'rack-2' };
    checkedUpstream(upstream.port, { ...CHECK, eventLogPath }, { endpoints: [{ locality }] });
    const read = (): string => (existsSync(eventLogPath) ? readFileSync(eventLogPath, 'utf8') : '');
    await until(() => read().includes('\n'), 'an event');
    const [line = ''] = read().split('\n');
    expect(JSON.parse(line)).to.deep.include({ locality: { region: 'eu', zone: 'eu-1', sub_zone: 'rack-2' } });
  });

  it('writes events as Envoy does', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'health-events-'));
    whenDone(() => rmSync(folder, { recursive: true }));
    const eventLogPath = join(folder, 'events.log');
    const upstream = await switchedUpstream();
    upstream.status = 500;
    const checked = checkedUpstream(upstream.port, { ...CHECK, eventLogPath });
    await checked.checks(2);
    upstream.status = 200;
    await checked.becomes(true);
    upstream.status = 503;
    await checked.becomes(false);
    const read = (): Record<string, unknown>[] => {
      const text = readFileSync(eventLogPath, 'utf8');
      return text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Record<string, unknown>);
    };
    await until(() => {
      try {
        return read().length === 3;
      } catch {
        return false;
      }
    }, 'three events');
    const events = read();
    expect(events[0]).to.deep.include({
      health_checker_type: 'HTTP',
      cluster_name: 'echo_gw-system',
      health_check_failure_event: { failure_type: 'ACTIVE', first_check: true },
      host: {
        socket_address: {
          protocol: 'TCP',
          address: '127.0.0.1',
          resolver_name: '',
          ipv4_compat: false,
          port_value: upstream.port,
        },
      },
      locality: { region: '', zone: '', sub_zone: '' },
    });
    expect(events[1]).to.deep.include({ add_healthy_event: { first_check: false } });
    expect(events[2]).to.deep.include({ eject_unhealthy_event: { failure_type: 'ACTIVE' } });
    expect(Date.parse(String(events[0]!.timestamp))).to.be.closeTo(Date.now(), 60_000);
  });

  it('logs each failure if the check says so, and changes of degraded hosts', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'health-events-'));
    whenDone(() => rmSync(folder, { recursive: true }));
    const eventLogPath = join(folder, 'events.log');
    const upstream = { status: 200, headers: {} };
    const port = await httpUpstream((_req, res) => void res.writeHead(upstream.status, upstream.headers).end());
    const checked = checkedUpstream(port, { ...CHECK, eventLogPath, alwaysLogHealthCheckFailures: true });
    await checked.becomes(true);
    upstream.headers = { 'x-envoy-degraded': '1' };
    await until(() => checked.flags() === 'degraded_active_hc', 'degraded');
    upstream.headers = {};
    await until(() => checked.flags() === '', 'no longer degraded');
    upstream.status = 500;
    await checked.becomes(false);
    await checked.checks(2);
    const events = (): string[] =>
      readFileSync(eventLogPath, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => Object.keys(JSON.parse(line) as object).find((key) => /_event$|_host$/.test(key))!);
    await until(() => events().length >= 6, 'six events');
    expect(events().slice(0, 6)).to.deep.equal([
      'add_healthy_event',
      'degraded_healthy_host',
      'no_longer_degraded_host',
      'eject_unhealthy_event',
      'health_check_failure_event',
      'health_check_failure_event',
    ]);
  });

  it('closes the event log with the last upstream that uses it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'health-events-'));
    whenDone(() => rmSync(folder, { recursive: true }));
    const eventLogPath = join(folder, 'events.log');
    const upstream = await switchedUpstream();
    const context = createContext({ log: silentLoggers });
    const check = { ...CHECK, eventLogPath };
    const [one, other] = [
      checkedUpstream(upstream.port, check, { context }),
      checkedUpstream(upstream.port, check, { context }),
    ];
    const sinks = context.state('health-event-logs', () => new Map<string, { sink: { close(): unknown } }>());
    const { sink } = sinks.get(eventLogPath)!;
    let closes = 0;
    const close = sink.close.bind(sink);
    sink.close = () => (closes++, close());
    await one.upstreams.close();
    expect(closes).to.equal(0);
    await other.upstreams.close();
    expect([closes, sinks.size]).to.deep.equal([1, 0]);
  });

  it('waits for the interval without traffic until the first request', async () => {
    const upstream = await switchedUpstream();
    const checked = checkedUpstream(upstream.port, { ...CHECK, noTrafficInterval: '0.5s', interval: '0.01s' });
    await checked.checks(1);
    const started = performance.now();
    checked.cluster().stats.cxTotal.value++;
    await checked.checks(2);
    expect(performance.now() - started).to.be.at.least(480);
    const later = performance.now();
    await checked.checks(20);
    expect(performance.now() - later).to.be.below(20 * 480);
  });

  it('keeps the health of unchanged hosts over a reload', async () => {
    const good = await switchedUpstream();
    const bad = await switchedUpstream();
    bad.status = 500;
    const checked = checkedUpstream(good.port, CHECK, { endpoints: [{}, { port: bad.port }] });
    await until(() => checked.flags(0) === '' && checked.stat('health_check.failure') > 0);
    const { snapshot } = checked;
    const added = { address: '127.0.0.1', port: 1, weight: 1 };
    checked.upstreams.apply([{ ...snapshot, endpoints: [...snapshot.endpoints, added] }]);
    expect(checked.flags(0)).to.equal('');
    expect(checked.flags(1)).to.equal('failed_active_hc');
    expect(checked.flags(2)).to.equal('failed_active_hc');
    expect(checked.stat('health_check.healthy')).to.equal(1);
    expect(checked.stat('membership_healthy')).to.equal(1);
  });

  it('treats hosts that were not checked before as healthy until their first check', async () => {
    const upstream = await switchedUpstream();
    upstream.status = 500;
    const checked = checkedUpstream(upstream.port, {}, { upstream: { spec: {} } });
    const { snapshot } = checked;
    checked.upstreams.apply([{ ...snapshot, spec: { healthChecks: [{ ...OFTEN, ...CHECK }] } }]);
    expect(checked.flags()).to.equal('');
    await checked.becomes(false);
    checked.upstreams.apply([snapshot]);
    expect(checked.flags()).to.equal('');
  });

  it('holds new listeners until each host was checked once', async () => {
    let answer: (() => void) | undefined;
    const port = await httpUpstream((_req, res) => (answer = () => void res.end()));
    const held: { what: string; ready: Promise<boolean> }[] = [];
    const context = createContext({
      log: silentLoggers,
      holdListeners: (what, ready) => void held.push({ what, ready }),
    });
    checkedUpstream(port, CHECK, { context });
    expect(held.map(({ what }) => what)).to.deep.equal(['health checks of upstream echo_gw-system']);
    let ready: boolean | undefined;
    void held[0]!.ready.then((value) => (ready = value));
    await until(() => answer !== undefined);
    expect(ready).to.equal(undefined);
    answer!();
    await until(() => ready !== undefined);
    expect(ready).to.equal(true);
  });

  it('checks thousands of hosts without blocking the process', async () => {
    const port = await httpUpstream((_req, res) => void res.end());
    // Not the time that passes: it depends on what else the machine does.
    let last = process.cpuUsage();
    let longest = 0;
    const timer = setInterval(() => {
      const { user, system } = process.cpuUsage(last);
      last = process.cpuUsage();
      longest = Math.max(longest, (user + system) / 1e3);
    }, 5).unref();
    const endpoints = Array.from({ length: 2000 }, (_, i) => ({ address: '127.0.0.1', port, sni: `h${i}` }));
    // On a busy machine the kernel drops some of the connections; their checks are repeated after the interval.
    const check = { ...CHECK, timeout: '5s', noTrafficInterval: '10s', reuseConnection: false };
    const checked = checkedUpstream(port, check, { endpoints });
    await until(() => checked.states().every(({ healthFlags }) => healthFlags.length === 0), 'all healthy');
    clearInterval(timer);
    // The server of the test runs in the same process.
    expect(longest).to.be.below(500);
  });
});

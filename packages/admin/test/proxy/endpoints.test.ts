import { createContext } from '@edge-gateway/core';
import { expect } from 'chai';
import type { Readiness } from '../../src/index.ts';
import { CERTIFICATE, PRIVATE_KEY } from '../certificate.ts';
import { SNAPSHOT, proxyAdmin, type TestPort } from '../sample.ts';

const QUIET = { quit() {}, drain() {}, setHealthy() {}, reopenLogs() {} };

describe('the proxy admin', () => {
  let admin: TestPort;
  before(async () => (admin = await proxyAdmin(QUIET)));
  after(() => admin.close());
  const jsonOf = async (path: string): Promise<any> => JSON.parse((await admin.request(path)).text);

  it('returns LIVE with 200, and every other state with 503', async () => {
    expect(await admin.request('/ready')).to.include({ status: 200, text: 'LIVE\n' });
    for (const state of ['PRE_INITIALIZING', 'INITIALIZING', 'DRAINING'] satisfies Readiness[]) {
      const other = await proxyAdmin({ readiness: () => state });
      expect(await other.request('/ready')).to.include({ status: 503, text: `${state}\n` });
      await other.close();
    }
  });

  it('disables caching and sniffing on every response, errors included', async () => {
    for (const path of ['/', '/ready', '/nothing', '/quitquitquit', '/stats?filter=(']) {
      const { headers } = await admin.request(path);
      expect(headers.get('cache-control'), path).to.equal(path === '/' ? 'no-store' : 'no-cache, max-age=0');
      expect(headers.get('x-content-type-options'), path).to.equal('nosniff');
      expect(headers.get('x-powered-by'), path).to.equal(null);
    }
  });

  it('lists every endpoint in /help and as a form on /', async () => {
    const help = await admin.request('/help');
    expect(help.text.split('\n')[0]).to.equal('admin commands are:');
    const page = await admin.request('/');
    expect(page.headers.get('content-type')).to.equal('text/html; charset=utf-8');
    expect(page.headers.get('content-security-policy')).to.contain("default-src 'none'");
    for (const path of [
      'certs',
      'clusters',
      'config_dump',
      'listeners',
      'logging',
      'quitquitquit',
      'stats/prometheus',
    ]) {
      expect(help.text).to.match(new RegExp(`^  /${path}`, 'm'));
      expect(page.text).to.contain(`action="${path}"`);
    }
  });

  it('separates forms that interrupt traffic, and requires confirmation', async () => {
    const more = { quit: () => {}, drain: () => {}, setHealthy: () => {} };
    const full = await proxyAdmin(more);
    const page = (await full.request('/')).text;
    await full.close();
    const [safe = '', apart = ''] = page.split('<h2>Disruptive</h2>');
    for (const path of ['drain_listeners', 'healthcheck/fail', 'quitquitquit', 'reset_counters']) {
      const form = new RegExp(
        `<form class="command" action="${path}" method="post">.*<input type="checkbox" required>.*</form>`,
      );
      expect(safe).to.not.contain(`action="${path}"`);
      expect(apart).to.match(form);
    }
    expect(safe).to.not.contain('required');
  });

  it('lists the addresses of the listeners', async () => {
    expect((await admin.request('/listeners')).text).to.equal('listener-::-8080::[::]:18080\n');
    expect(await jsonOf('/listeners?format=json')).to.deep.equal({
      listener_statuses: [
        { name: 'listener-::-8080', local_address: { socket_address: { address: '::', port_value: 18_080 } } },
      ],
    });
  });

  it('returns version, state, uptime, flags and node', async () => {
    expect(await jsonOf('/server_info')).to.deep.equal({
      version: '1.2.3',
      state: 'LIVE',
      uptime_current_epoch: '3600s',
      uptime_all_epochs: '3600s',
      hot_restart_version: 'disabled',
      command_line_options: { config: '/etc/gateway' },
      node: { id: 'gateway-proxy', cluster: 'gateway-proxy', metadata: { role: 'gw-system~gateway-proxy' } },
    });
  });

  it('shows certificates with serial, names and days left', async () => {
    const { certificates } = await jsonOf('/certs');
    expect(certificates).to.have.length(1);
    expect(certificates[0].cert_chain).to.deep.equal([
      {
        path: 'secret gw-system.shop-tls',
        serial_number: '7b2f',
        subject_alt_names: [
          { dns: 'shop.example' },
          { dns: '*.shop.example' },
          { ip_address: '127.0.0.1' },
          { uri: 'spiffe://cluster.local/ns/a' },
        ],
        days_until_expiration: '36490',
        valid_from: '2026-11-21T06:04:02.000Z',
        expiration_time: '2126-10-28T06:04:02.000Z',
      },
    ]);
    expect(certificates[0].ca_cert[0].serial_number).to.equal('7b2f');
  });

  it('shows served certificates from files, and omits files without valid content', async () => {
    const tlsCert = '/certs/tls.crt';
    const data = { 'tls.crt': Buffer.from(CERTIFICATE + PRIVATE_KEY).toString('base64') };
    const files = ({ tlsCert: path }: { tlsCert?: string }) =>
      path === tlsCert ? { type: 'kubernetes.io/tls', data } : undefined;
    const context = createContext({ secrets: { get: () => undefined, files } });
    const sslConfig = { sslFiles: { tlsCert, tlsKey: '/certs/tls.key' } };
    const missing = { sslFiles: { tlsCert: '/certs/missing.crt', tlsKey: '/certs/tls.key' } };
    const [, listener] = SNAPSHOT.listeners;
    const sslConfigurations = [sslConfig, missing].map((each) => ({ sslConfig: each, sniDomains: [] }));
    const listeners = [{ ...listener!, sslConfigurations }];
    const other = await proxyAdmin({ context, snapshot: () => ({ ...SNAPSHOT, listeners, upstreams: [] }) });
    const { text } = await other.request('/certs');
    await other.close();
    const { certificates } = JSON.parse(text);
    expect(certificates).to.have.length(1);
    expect(certificates[0].cert_chain[0]).to.include({ path: tlsCert, serial_number: '7b2f' });
    expect(certificates[0].ca_cert).to.deep.equal([]);
    expect(text).not.to.contain('KEY');
  });

  it('returns memory in bytes, as strings', async () => {
    const memory = await jsonOf('/memory');
    expect(memory).to.have.all.keys(
      'allocated',
      'heap_size',
      'pageheap_unmapped',
      'pageheap_free',
      'total_thread_cache',
      'total_physical_bytes',
    );
    for (const bytes of Object.values(memory)) expect(bytes).to.match(/^\d+$/);
  });

  it('returns that there is no runtime layer and no hot restart', async () => {
    expect(await jsonOf('/runtime')).to.deep.equal({ entries: {}, layers: [] });
    expect((await admin.request('/hot_restart_version')).text).to.equal('disabled\n');
  });

  it('returns the targets that the start waits for', async () => {
    expect(await jsonOf('/init_dump')).to.deep.equal({});
    const early = await proxyAdmin({ readiness: () => 'INITIALIZING', snapshot: () => undefined });
    const waiting = JSON.parse((await early.request('/init_dump')).text);
    await early.close();
    expect(waiting.unready_targets_dumps[0].target_names).to.deep.equal(['snapshot']);
  });

  it('returns 404 with the list of commands for an unknown path', async () => {
    const { status, text } = await admin.request('/contention');
    expect(status).to.equal(404);
    expect(text).to.match(/^invalid path\. admin commands are:\n/);
  });

  it('responds to HEAD without a body', async () => {
    const { status, text } = await admin.request('/ready', { method: 'HEAD' });
    expect({ status, text }).to.deep.equal({ status: 200, text: '' });
  });
});

import { secretText } from '@edge-gateway/core';
import { expect } from 'chai';
import { createControlAdmin, createDeveloperAdmin, createProxyAdmin } from '../src/index.ts';
import { PRIVATE_KEY } from './certificate.ts';
import { STATE, controlOptions } from './control/control-sample.ts';
import { SECRETS, listen, sampleOptions, type TestPort } from './sample.ts';

/** What must not be seen: every value of a secret but certificates, as text, as base64, and each line of a key. */
function forbidden(): string[] {
  const values = Object.values(SECRETS).flatMap((secret) =>
    Object.keys(secret.data).flatMap((key) =>
      ['tls.crt', 'ca.crt'].includes(key) ? [] : [secret.data[key]!, secretText(secret, key)!],
    ),
  );
  const keyLines = PRIVATE_KEY.split('\n').filter((line) => line.length > 40);
  const encoded = [...keyLines, 'MARKER'].map((text) =>
    Buffer.from(text)
      .toString('base64')
      .replace(/.{3}=*$/, ''),
  );
  return ['MARKER', 'BEGIN PRIVATE KEY', ...values, ...keyLines, ...encoded];
}

const PROXY_PATHS = `
  / /help /ready /certs /status/certificates /status/log /clusters /clusters?format=json /hot_restart_version /init_dump
  /config_dump /config_dump?include_eds /config_dump?resource=dynamic_active_secrets
  /config_dump?mask=dynamic_active_secrets /listeners /listeners?format=json /logging /logs /memory /runtime /server_info
  /stats /stats?format=json /stats/prometheus /nothing
  /status /status/virtual-services /status/virtual-service?namespace=gw-system&name=shop /status/upstreams
  /status/upstream?name=pets_gw-system /status/search?q=s`
  .trim()
  .split(/\s+/);
const CONTROL_PATHS = `
  / /status/page.css /ready /logs /proxies /components /debug/pprof /debug/pprof/profile?seconds=0.05 /debug/pprof/heap?seconds=0.05 /logging /metrics
  /problems /snapshots/edge /snapshots/input /snapshots/proxies /snapshots/xds /version /zpages /zpages?format=json /nothing
  /status/resources /status/problems /status/virtual-services /status/virtual-service?namespace=gw-system&name=shop
  /status/resource?kind=Secret&namespace=gw-system&name=oauth /status/resource?kind=VirtualService&namespace=gw-system&name=shop
  /status/resource?kind=Upstream&namespace=gw-system&name=pets /status/resource?kind=Upstream&namespace=gw-system&name=broken
  /status/resource?kind=ConfigMap&namespace=gw-system&name=rules /status/upstreams /status/upstream?name=pets_gw-system
  /status/certificates /status/log /status/proxies /status/search?q=s /status/search?q=MARK`
  .trim()
  .split(/\s+/);
const DEVELOPER_PATHS = ['/', '/xds', '/xds/gw-system~gateway-proxy', '/api', '/nothing'];

describe('secrets on the admin ports', () => {
  const options = sampleOptions({
    quit() {},
    drain() {},
    setHealthy() {},
    info: { version: '1', startedAt: 0, commandLineOptions: { redisPassword: 'MARKER-flag' } },
  });
  const PORTS = {
    'proxy admin': [() => createProxyAdmin(options), PROXY_PATHS],
    'control-plane port': [() => createControlAdmin(controlOptions()), CONTROL_PATHS],
    'developer port': [() => createDeveloperAdmin({ state: () => STATE }), DEVELOPER_PATHS],
  } as const;

  for (const [name, [create, paths]] of Object.entries(PORTS)) {
    describe(`the ${name}`, () => {
      let port: TestPort;
      before(async () => (port = await listen(create())));
      after(() => port.close());
      for (const path of paths) {
        it(`at ${path}`, async () => {
          const { text, headers } = await port.request(path);
          const seen = text + JSON.stringify([...headers]);
          for (const value of forbidden()) expect(seen.includes(value), `shows ${value.slice(0, 12)}…`).to.equal(false);
        });
      }
    });
  }

  it('covers every path', async () => {
    const port = await listen(createProxyAdmin(options));
    const help = (await port.request('/help')).text;
    await port.close();
    const listed = [...help.matchAll(/^ {2}(\/\S*?)(?: \(POST\))?:/gm)].map(([, path]) => path!);
    const posts = ['/drain_listeners', '/healthcheck/fail', '/healthcheck/ok', '/quitquitquit', '/reset_counters'];
    expect(listed.filter((path) => !PROXY_PATHS.includes(path))).to.deep.equal(posts);
    const control = await listen(createControlAdmin(controlOptions()));
    const page = (await control.request('/')).text;
    await control.close();
    const linked = [...page.matchAll(/href="([^"]+)"/g)].map(([, path]) => path!);
    const tested = new Set(CONTROL_PATHS.map((path) => path.split('?')[0]));
    const paths = linked.filter((path) => path.startsWith('/')).map((path) => path.split('?')[0]!);
    expect(paths.filter((path) => !tested.has(path))).to.deep.equal([]);
  });
});

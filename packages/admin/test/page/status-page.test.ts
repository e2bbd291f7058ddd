import {
  createContext,
  createLoggers,
  createMetrics,
  GatewayError,
  keyOf,
  type ControlPlaneState,
  type HostState,
  type ProxyStatus,
  type Snapshot,
  type VirtualHost,
} from '@edge-gateway/core';
import { expect } from 'chai';
import type { WrittenRequest } from '../../src/index.ts';
import { controlAdmin, resource, STATE } from '../control/control-sample.ts';
import { browse } from '../raw-request.ts';
import { NOW, proxyAdmin, secrets, SNAPSHOT, type TestPort } from '../sample.ts';

const EVIL = `<script>alert('1')"onmouseover=x`;

/** A state with hostile names in every place that the page shows. */
function hostileState(): ControlPlaneState {
  const service = resource('VirtualService', EVIL, { virtualHost: { domains: [EVIL] } });
  const key = keyOf('VirtualService', service.metadata);
  const [listener, ...others] = SNAPSHOT.listeners;
  const [host] = listener!.virtualHosts;
  const route = { ...host!.routes[0]!, name: EVIL, matchers: [{ prefix: EVIL, headers: [{ name: EVIL }] }] };
  const evil: VirtualHost = {
    ...host!,
    virtualService: service.metadata,
    name: EVIL,
    domains: [EVIL],
    routes: [route],
  };
  const upstream = { ...SNAPSHOT.upstreams[0]!, name: EVIL, ref: { name: EVIL, namespace: EVIL } };
  const snapshot: Snapshot = {
    ...SNAPSHOT,
    proxy: EVIL,
    listeners: [{ ...listener!, name: EVIL, virtualHosts: [evil] }, ...others],
    upstreams: [upstream],
  };
  return {
    ...STATE,
    resources: new Map([[key, { ...service, origin: { file: EVIL, line: 1, column: 1 } }]]),
    statuses: new Map([[key, { statuses: { a: { state: 'Rejected', reason: EVIL, reportedBy: EVIL } } }]]),
    issues: [{ ...STATE.issues[1]!, kind: 'VirtualService', name: EVIL, message: EVIL, hint: EVIL, path: [EVIL] }],
    snapshots: new Map([[EVIL, snapshot]]),
  };
}

const HOST: HostState = {
  address: '10.0.0.1',
  port: 8080,
  hostname: EVIL,
  weight: 1,
  priority: 0,
  locality: {},
  counters: {
    cx_active: 0,
    cx_connect_fail: 7,
    cx_total: 0,
    rq_active: 0,
    rq_error: 3,
    rq_success: 0,
    rq_timeout: 0,
    rq_total: 4321,
  },
  healthFlags: ['failed_active_hc'],
  successRate: -1,
  localOriginSuccessRate: -1,
};

const PROXY: ProxyStatus = {
  node: 'host-1~4711',
  proxy: 'gateway-proxy',
  address: '10.1.2.3:4567',
  version: 'older',
  current: false,
  connectedSince: new Date(Date.now() - 5000).toISOString(),
  lastAck: new Date(Date.now() - 3000).toISOString(),
  nack: {
    type: 'type.example/VirtualHost',
    resource: 'listener/shop',
    field: 'routes[0]',
    message: EVIL,
    origin: { file: 'shop.yaml', line: 12, column: 9 },
  },
  age: 3,
};

/** The text of a page without its markup. */
const textOf = (page: string): string => page.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');

describe('the status page of the control plane', () => {
  let state: ControlPlaneState | undefined;
  let admin: TestPort;
  let asked: WrittenRequest | undefined;
  before(async () => {
    admin = await controlAdmin({
      state: () => state,
      hostStates: () => [HOST],
      proxies: () => [PROXY],
      translations: () => [{ revision: 4, at: Date.now(), durationMs: 1.25, resources: 9, problems: 1 }],
      explain: async (request) => {
        asked = request;
        if (request.url === 'bad') throw new GatewayError(`invalid URL ${EVIL}`, { code: 'ERR_TEST', status: 1 });
        return `GET a\n\nListener\n  ✓ ${EVIL}`;
      },
    });
  });
  beforeEach(() => (state = STATE));
  after(() => admin.close());
  const page = async (path: string): Promise<string> => {
    const { status, text } = await admin.request(path);
    expect(status, path).to.equal(200);
    return text;
  };
  const explain = (form: Record<string, string>) =>
    admin.request('/status/explain', { method: 'POST', body: new URLSearchParams(form) });

  const PATHS = [
    '/',
    '/status',
    '/status/resources',
    '/status/problems',
    `/status/resource?${new URLSearchParams({ kind: 'VirtualService', namespace: 'gw-system', name: EVIL })}`,
    '/status/virtual-services',
    `/status/virtual-service?${new URLSearchParams({ namespace: 'gw-system', name: EVIL })}`,
    '/status/upstreams',
    `/status/upstream?${new URLSearchParams({ name: EVIL })}`,
    '/status/proxies',
    '/status/translations',
    '/status/explain',
    `/status/search?${new URLSearchParams({ q: 'script' })}`,
    `/status/resources?${new URLSearchParams({ q: EVIL, kind: EVIL, state: EVIL, page: EVIL })}`,
  ];
  for (const path of PATHS)
    it(`escapes hostile names, and runs nothing inline, at ${path}`, async () => {
      state = hostileState();
      const { status, text, headers } = await admin.request(path);
      expect(status).to.equal(200);
      expect(text.match(/<script[^>]*>/g)).to.deep.equal(['<script src="/status/page.js" defer>']);
      expect(text).to.not.match(/<[^>]* on[a-z]+=|<[^>]* style=|<style|javascript:/i);
      expect(headers.get('content-security-policy')).to.equal(
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; form-action 'self'; " +
          "base-uri 'none'; frame-ancestors 'none'",
      );
      expect(headers.get('cache-control')).to.equal('no-store');
    });

  it('shows state, problem, file and line of a resource', async () => {
    const text = textOf(await page('/status/resources?state=Rejected'));
    expect(text).to.contain('gw-system/broken Upstream Rejected spec: must be an object broken.yaml:4:3');
    expect(text).to.contain('1–1 of 1');
  });

  it('shows the content of a resource without secrets', async () => {
    const text = await page('/status/resource?kind=Secret&namespace=gw-system&name=oauth');
    expect(text).to.contain('client-secret').and.contain('&#60;redacted&#62;').and.not.contain('MARKER');
  });

  it('shows every problem, also of documents without a name', async () => {
    const text = textOf(await page('/status/problems'));
    expect(text).to.contain('notes.yaml:2:1 error document the document has no kind');
    expect(textOf(await page('/status/problems?severity=warning'))).to.contain('There are no problems.');
  });

  it('shows the routes of a virtual service with their policies', async () => {
    const text = textOf(await page('/status/virtual-service?namespace=gw-system&name=shop'));
    expect(text).to.contain('gateway-proxy: listener-::-8080').and.contain('Accepted');
    expect(text).to.contain('pets_gw-system');
  });

  it('shows hosts with health and counters', async () => {
    const text = textOf(await page('/status/upstream?name=pets_gw-system'));
    expect(text).to.contain('10.0.0.1:8080 failed active hc').and.contain('4321');
  });

  it('shows connected proxies, and what they rejected', async () => {
    const text = textOf(await page('/status/proxies'));
    expect(text).to.contain('host-1~4711 gateway-proxy 10.1.2.3:4567 rejected – – – – no report older');
    expect(text).to.contain('VirtualHost listener/shop routes[0]: ').and.contain(' shop.yaml:12:9 ');
    expect(textOf(await page('/'))).to.contain('10.1.2.3:4567');
  });

  it('sums what proxies report, and leaves out what is stale', async () => {
    const of = (name: string, unhealthy: number) => ({
      name,
      requests: 50,
      clientErrors: 5,
      serverErrors: 10,
      p99: 20 + unhealthy,
      healthy: 3 - unhealthy,
      unhealthy,
    });
    const traffic = (unhealthy: number) => ({
      seconds: 10,
      total: { name: 'gateway-proxy', requests: 50, clientErrors: 5, serverErrors: 10, p50: 1, p99: 2 },
      listeners: [{ name: '[::]:8080', requests: 50, clientErrors: 5, serverErrors: 10 }],
      upstreams: [of(EVIL, unhealthy), ...Array.from({ length: 300 }, (_, i) => of(`u${i}`, 0))],
      reportedAt: new Date(Date.now() - 30_000).toISOString(),
      isStale: false,
    });
    const { nack: _, ...proxy } = PROXY;
    const port = await controlAdmin({
      state: () => state,
      hostStates: () => undefined,
      proxies: () => [
        { ...proxy, node: 'a', traffic: traffic(1) },
        { ...proxy, node: 'b', traffic: traffic(0) },
        { ...proxy, node: 'c', traffic: { ...traffic(3), isStale: true } },
      ],
    });
    try {
      const { text: markup } = await port.request('/status/proxies');
      expect(markup).to.not.contain('<script>alert');
      const text = textOf(markup);
      expect(text).to.contain('5 20 % 1 ms 2 ms 1 unhealthy');
      expect(text).to.contain('– – – – stale reported 30 s ago');
      expect(text).to.contain('[::]:8080 10 10 % 20 %');
      expect(text).to.contain('2 10 20 % 21 ms 1 unhealthy, 2 healthy');
      expect(markup.match(/data-column="Highest p99"/g)).to.have.length(100);
    } finally {
      await port.close();
    }
  });

  it('has landmarks, one heading, captions, and labels', async () => {
    for (const path of PATHS.slice(0, 4)) {
      const text = await page(path);
      for (const landmark of [
        '<header>',
        '<main id="main"',
        '<nav aria-label="Sections"',
        'role="search"',
        'aria-live="polite"',
      ])
        expect(text, path).to.contain(landmark);
      expect(text.match(/<h1>/g)).to.have.length(1);
      expect(text.match(/<caption/g) ?? []).to.have.length((text.match(/<table/g) ?? []).length);
      expect(text.match(/aria-current="page"/g)).to.have.length(1);
    }
  });

  it('shows a page with the name of a missing resource', async () => {
    for (const path of [
      '/status/resource?kind=A&name=b',
      '/status/virtual-service?name=x',
      '/status/upstream?name=y',
    ]) {
      const { status, text, headers } = await admin.request(path);
      expect([status, headers.get('content-type')]).to.deep.equal([404, 'text/html; charset=utf-8']);
      expect(text).to.contain('is named');
    }
  });

  it('shows browsers a page for an unknown path, and programs an error', async () => {
    for (const path of ['/nothing', '/status/', '/status/nothing?a=1']) {
      const text = await browse(admin.port, path);
      expect(text, path).to.match(/^HTTP\/1.1 404 .*\r\ncontent-type: text\/html; charset=utf-8\r\n/is);
      expect(text)
        .to.contain(`This port has no page ${path.split('?')[0]}.`)
        .and.contain('<nav aria-label="Sections"');
      const { text: json } = await admin.request(path);
      expect(JSON.parse(json), path).to.have.property('code', 'ERR_ADMIN_NOT_FOUND');
    }
    const evil = await browse(admin.port, '/<script>');
    expect(evil.match(/<script[^>]*>/g)).to.deep.equal(['<script src="/status/page.js" defer>']);
  });

  it('says where health and traffic are if the proxies are other processes', async () => {
    const apart = await controlAdmin();
    for (const path of ['/', '/status/upstreams', '/status/upstream?name=pets_gw-system'])
      expect(textOf((await apart.request(path)).text), path).to.contain(
        'Each proxy shows all of it on its own status page',
      );
    await apart.close();
    expect(await page('/')).to.not.contain('Each proxy shows');
  });

  it('shows when each translation ran, with the time as a tooltip', async () => {
    const text = await page('/status/translations');
    const columns = [...text.matchAll(/<th scope="col"[^>]*>([^<]*)</g)].map(([, name]) => name);
    expect(columns).to.deep.equal(['Revision', 'When', 'Took', 'Resources', 'Problems']);
    expect(text).to.match(/<time datetime="[^"]+Z" title="\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC">\d+ s ago</);
  });

  it('counts in the singular and plural', async () => {
    expect(textOf(await page('/')))
      .to.contain('1 virtual service')
      .and.not.contain('1 virtual services');
    state = { ...STATE, resources: new Map(), statuses: new Map() };
    expect(textOf(await page('/'))).to.contain('0 virtual services');
  });

  it('works before the resources have been read', async () => {
    state = undefined;
    expect(textOf(await page('/'))).to.contain('The resources have not been read yet.');
    for (const path of ['/status/resources', '/status/problems', '/status/virtual-services', '/status/upstreams'])
      await page(path);
  });

  it('explains a request that the form describes', async () => {
    const form = { method: 'POST', url: ' http://a.example/ ', headers: 'x-a: 1\r\n\r\nx-b: 2', claims: '{}' };
    const { status, text } = await explain(form);
    expect(status).to.equal(200);
    expect(asked).to.deep.equal({
      method: 'POST',
      url: 'http://a.example/',
      headers: ['x-a: 1', 'x-b: 2'],
      claims: '{}',
    });
    expect(text).to.contain('<b>Listener</b>').and.contain('<span class="yes">✓</span> &#60;script');
    expect(text).to.contain('value="POST"').and.contain('x-a: 1\r\n');
  });

  it('shows why a request cannot be explained', async () => {
    const { status, text } = await explain({ method: 'GET', url: 'bad' });
    expect(status).to.equal(400);
    expect(text).to.contain('role="alert">invalid URL &#60;script').and.not.contain('<script>');
  });

  it('limits the size of the form', async () => {
    expect((await explain({ url: 'http://a.example/', headers: 'x'.repeat(20_000) })).status).to.equal(200);
    expect((await explain({ url: 'http://a.example/', headers: 'x'.repeat(40_000) })).status).to.equal(413);
  });

  it('rejects the form of another site', async () => {
    const headers = { origin: 'https://evil.example', 'content-type': 'application/x-www-form-urlencoded' };
    expect((await admin.request('/status/explain', { method: 'POST', headers, body: 'url=x' })).status).to.equal(403);
  });

  it('rejects other methods', async () => {
    expect((await admin.request('/status/resources', { method: 'POST' })).status).to.equal(405);
    expect((await admin.request('/', { method: 'DELETE' })).status).to.equal(405);
  });

  it('serves style and script, which load nothing from elsewhere', async () => {
    const [style, script] = [await admin.request('/status/page.css'), await admin.request('/status/page.js')];
    expect(style.headers.get('content-type')).to.equal('text/css; charset=utf-8');
    expect(script.headers.get('content-type')).to.equal('text/javascript; charset=utf-8');
    expect(style.text + script.text).to.not.match(/https?:|url\(|@import|innerHTML =/);
  });

  it('is fast and paged with 10,000 virtual services', async () => {
    const services = Array.from({ length: 10_000 }, (_, i) => resource('VirtualService', `s${i}`, { virtualHost: {} }));
    const [listener] = SNAPSHOT.listeners;
    const hosts = services.map(({ metadata }, i) => ({
      ...listener!.virtualHosts[0]!,
      virtualService: metadata,
      name: `gw-system.${metadata.name}`,
      domains: [`d${i}.example`],
    }));
    state = {
      ...STATE,
      statuses: new Map(),
      resources: new Map(services.map((each) => [keyOf(each.kind, each.metadata), each])),
      snapshots: new Map([['gateway-proxy', { ...SNAPSHOT, listeners: [{ ...listener!, virtualHosts: hosts }] }]]),
    };
    const text = await page('/status/virtual-services?page=3');
    expect(text).to.contain('101–150 of 10,000').and.contain('page=200');
    expect(text.length).to.be.below(60_000);
    expect(textOf(await page('/status/virtual-services?q=d9999.example'))).to.contain('1–1 of 1');
    expect(textOf(await page('/status/search?q=s999'))).to.contain('Virtual services (11)');
  });
});

describe('the events of the status page', () => {
  let state = STATE;
  let admin: TestPort;
  before(async () => (admin = await controlAdmin({ state: () => state, hostStates: () => undefined })));
  after(() => admin.close());

  it('report changes and ticks, and end with the port', async () => {
    const controller = new AbortController();
    const response = await fetch(`http://127.0.0.1:${admin.port}/status/events`, { signal: controller.signal });
    expect(response.headers.get('content-type')).to.match(/^text\/event-stream/);
    let seen = '';
    const read = async (what: string): Promise<void> => {
      for await (const chunk of response.body!.pipeThrough(new TextDecoderStream()).values({ preventCancel: true })) {
        seen += chunk;
        if (seen.includes(what)) return;
      }
      expect.fail(`ended before ${what}: ${seen}`);
    };
    state = { ...STATE, revision: 4 };
    await read('data: Revision 4 of the configuration, 2 problems\n\n');
    expect(seen).to.match(/^retry: 2000\n\n/);
    controller.abort();
  });

  it('are limited in number', async () => {
    const lines: string[] = [];
    const loggers = createLoggers({ destination: { write: (line) => void lines.push(line) } });
    const crowded = await controlAdmin({ state: () => state, hostStates: () => undefined, loggers });
    const controller = new AbortController();
    const { signal } = controller;
    const open = async () => (await fetch(`http://127.0.0.1:${crowded.port}/status/events`, { signal })).status;
    const statuses = [];
    for (let i = 0; i < 33; i++) statuses.push(await open());
    expect(statuses.filter((status) => status === 503)).to.have.length.within(1, 2);
    controller.abort();
    await crowded.close();
    const rejected = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'admin request rejected');
    expect(rejected).to.not.be.empty;
    expect(rejected[0]).to.include({ level: 40, code: 'ERR_ADMIN_TOO_MANY', path: '/status/events' });
    expect(lines.join()).to.not.contain('"stack"').and.not.contain('    at ');
  });
});

describe('the status page of a proxy', () => {
  let admin: TestPort;
  before(async () => (admin = await proxyAdmin({ hostStates: () => [HOST], explain: async () => 'GET a' })));
  after(() => admin.close());

  it('shows its own virtual services and upstreams, but no resources', async () => {
    const { text } = await admin.request('/status');
    expect(textOf(text)).to.contain('gateway-proxy').and.contain('listener-::-8080');
    expect(text).to.not.contain('/status/resources').and.not.contain('/status/proxies');
    expect(textOf((await admin.request('/status/virtual-services')).text)).to.contain('gw-system/shop Served');
    expect(textOf((await admin.request('/status/upstreams')).text)).to.contain('pets_gw-system');
    expect((await admin.request('/status/resources')).status).to.equal(404);
  });

  it('links only to pages that change nothing', async () => {
    const { text } = await admin.request('/status');
    expect(text).to.contain('href="/clusters"').and.not.contain('quitquitquit').and.not.contain('reset_counters');
  });

  it('is listed in the help, and first on the home page', async () => {
    expect((await admin.request('/help')).text).to.contain('  /status: the status page');
    const actions = (await admin.request('/')).text.match(/action="\w+"/g)!;
    expect(actions[0]).to.equal('action="status"');
    expect(actions.lastIndexOf('action="status"')).to.equal(0);
  });

  it('shows browsers a page for an unknown path below it only', async () => {
    const text = await browse(admin.port, '/status/nothing');
    expect(text).to.match(/^HTTP\/1.1 404 /);
    expect(text).to.contain('This port has no page /status/nothing.').and.contain('href="/status"');
    expect(await browse(admin.port, '/nothing')).to.match(/\r\n\r\ninvalid path\. admin commands are:\n/);
    expect((await admin.request('/status/nothing')).text).to.match(/^invalid path\./);
  });

  describe('with upstreams in all states of health', () => {
    const [pets] = SNAPSHOT.upstreams;
    const upstreams = [
      ['a', { healthChecks: [{}] }, 2],
      ['b', { outlierDetection: {} }, 1],
      ['c', {}, 2],
      ['d', {}, 2],
      ['e', {}, 2],
      ['f', {}, 2],
    ] as const;
    let own: TestPort;
    before(async () => {
      const context = createContext({ metrics: createMetrics(), secrets, now: () => NOW });
      for (const [name, , healthy] of upstreams) {
        const stat = (metric: string) => {
          return {
            path: `cluster.${name}.${metric}`,
            metric: `envoy_cluster_${metric}`,
            labels: { envoy_cluster_name: name },
          };
        };
        context.metrics.gauge(stat('membership_total')).value = 2;
        context.metrics.gauge(stat('membership_healthy')).value = healthy;
        context.metrics.counter(stat('upstream_cx_connect_fail')).value = Number('de'.includes(name));
        context.metrics.counter(stat('upstream_rq_timeout')).value = Number(name === 'f');
      }
      const lastFailure = { at: NOW - 5000, reason: 'Connection refused', isOver: false };
      const hosts: Readonly<Record<string, HostState>> = {
        d: { ...HOST, healthFlags: [], lastFailure },
        e: { ...HOST, healthFlags: [], lastFailure: { ...lastFailure, at: NOW - 120_000, isOver: true } },
        f: {
          ...HOST,
          healthFlags: [],
          lastFailure: { at: NOW - 7000, reason: 'no response in 2000 ms', isOver: false, isTimeout: true },
        },
      };
      own = await proxyAdmin({
        context,
        hostStates: (name) => [hosts[name] ?? { ...HOST, healthFlags: [] }],
        snapshot: () => ({
          ...SNAPSHOT,
          upstreams: upstreams.map(([name, spec]) => ({ ...pets!, name, spec: { ...pets!.spec, ...spec } })),
        }),
      });
    });
    after(() => own.close());
    const shown = async (path: string): Promise<string> => textOf((await own.request(path)).text);

    it('counts each state on the overview', async () => {
      expect(await shown('/status')).to.contain('Upstreams 6 1 unhealthy, 2 failing, 2 unchecked, 1 healthy');
    });

    it('shows when and why connections failed on the overview', async () => {
      const text = await shown('/status');
      expect(text).to.contain('Failed connections and timeouts in the last hour');
      expect(text).to.match(/d \S+:\d+ connections fail 5 s ago Connection refused/);
      expect(text).to.match(/e \S+:\d+ connected again 2 min ago Connection refused/);
      expect(text).to.match(/f \S+:\d+ does not respond 7 s ago no response in 2000 ms/);
    });

    const filtered = [
      ['unhealthy', 'b', '1 of 2 healthy'],
      ['failing', 'd', 'failing'],
      ['unchecked', 'c', '2 hosts, unchecked'],
      ['healthy', 'a', '2 of 2 healthy'],
    ] as const;
    for (const [health, name, cell] of filtered) {
      it(`lists the upstreams that are ${health}`, async () => {
        const { text } = await own.request(`/status/upstreams?health=${health}`);
        expect(text).to.contain(`/status/upstream?name=${name}"`);
        expect(textOf(text)).to.contain(cell);
        for (const [, other] of filtered)
          if (other !== name) expect(text).to.not.contain(`/status/upstream?name=${other}"`);
      });
    }

    it('shows the state and the last failure of each host', async () => {
      expect(await shown('/status/upstream?name=d')).to.match(/connections fail .*5 s ago Connection refused/);
      expect(await shown('/status/upstream?name=c'))
        .to.contain('unchecked')
        .and.to.not.contain('healthy ');
      expect(await shown('/status/upstream?name=e')).to.match(/ unchecked .*2 min ago Connection refused/);
    });

    it('shows no failures that are older than an hour', async () => {
      const context = createContext({ metrics: createMetrics(), secrets, now: () => NOW });
      const stat = { path: 'x', metric: 'envoy_cluster_upstream_cx_connect_fail', labels: { envoy_cluster_name: 'a' } };
      context.metrics.counter(stat).value = 1;
      const lastFailure = { at: NOW - 3_600_001, reason: 'Connection refused', isOver: false };
      const old = await proxyAdmin({ context, hostStates: () => [{ ...HOST, lastFailure }] });
      const { text } = await old.request('/status');
      await old.close();
      expect(text).to.not.contain('Failed connections');
    });
  });

  it('explains requests', async () => {
    const body = new URLSearchParams({ url: 'http://a.example/' });
    expect((await admin.request('/status/explain', { method: 'POST', body })).text).to.contain('<b>GET a</b>');
  });
});

import { spawn, type ChildProcess } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { GatewayProcess, until } from '../apps/gateway/test/gateway-process.ts';
import { ROOT } from './docs/workspace.ts';
import { skipWithout } from './parts/apt.ts';
import { freePort } from './parts/free-port.ts';

const OBSERVABILITY = join(ROOT, 'deploy', 'observability');

/** Something of everything that the dashboards show. */
const RESOURCES = `
apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: nowhere }
spec: { static: { hosts: [{ addr: 127.0.0.1, port: 9 }] } }
---
apiVersion: v1
kind: Secret
metadata: { name: key, labels: { team: a } }
type: extauth.vendor.io/apikey
stringData: { api-key: not-secret-1 }
---
apiVersion: enterprise.gw.vendor.io/v1
kind: AuthConfig
metadata: { name: keys }
spec: { configs: [{ apiKeyAuth: { headerName: x-key, labelSelector: { team: a } } }] }
---
apiVersion: ratelimit.vendor.io/v1alpha1
kind: RateLimitConfig
metadata: { name: few }
spec:
  raw:
    descriptors: [{ key: generic_key, value: few, rateLimit: { requestsPerUnit: 10, unit: MINUTE } }]
    rateLimits: [{ actions: [{ genericKey: { descriptorValue: few } }] }]
---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: hello }
spec:
  virtualHost:
    domains: ['*']
    options:
      rbac: { policies: { nobody: { principals: [{ jwtPrincipal: { claims: { sub: nobody } } }] } } }
      jwt:
        providers:
          main: { issuer: https://a.example, jwks: { local: { key: '{"keys":[{"kty":"EC","x":"htvEuTdGrzJ5opLUtucHWcrQPIMBVO2h8MRzXV49ldU","y":"XzCeK6-5TI36xlxq_sUtGSXkGcAjquFo_4NSdg6r5nk","crv":"P-256"}]}' } } }
        allowMissingOrFailedJwt: true
    routes:
      - { matchers: [{ prefix: /up }], routeAction: { single: { upstream: { name: nowhere } } }, options: { rbac: { disable: true } } }
      - { matchers: [{ prefix: /few }], routeAction: { single: { upstream: { name: nowhere } } }, options: { rbac: { disable: true }, rateLimitConfigs: { refs: [{ name: few }] } } }
      - { matchers: [{ prefix: /key }], directResponseAction: { status: 200 }, options: { extauth: { configRef: { name: keys } } } }
      - { matchers: [{ prefix: /rbac }], directResponseAction: { status: 200 } }
`;

/** These statistics only exist after something rare has happened. */
const RARE = /ratelimit_vendor_io_(?:errors|shadow_mode|descriptor_miss|near_limit)/;

interface Target {
  readonly expr: string;
}
interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets: readonly Target[] }[];
  readonly templating: { readonly list: readonly { readonly query: string | { readonly query: string } }[] };
}

/** Replaces the variables of Grafana. */
function filled(expression: string): string {
  return expression.replaceAll(/\$(?:instance|upstream|descriptor)/g, '.*').replaceAll('$__rate_interval', '10s');
}

describe('the dashboards and alerts, with a Prometheus that scrapes a gateway', () => {
  const gateway = new GatewayProcess();
  const dir = mkdtempSync(join(tmpdir(), 'prometheus-'));
  let prometheus: ChildProcess;
  let base: string;

  const api = async (path: string): Promise<any> => {
    const response = await fetch(`${base}/api/v1/${path}`);
    const body = (await response.json()) as { status: string; error?: string; data: unknown };
    expect(body.status, body.error).to.equal('success');
    return body.data;
  };
  const query = async (expression: string): Promise<readonly { value: [number, string] }[]> =>
    (await api(`query?query=${encodeURIComponent(expression)}`)).result;

  before(async function () {
    const program = await skipWithout(this, 'prometheus');
    gateway.write('resources.yaml', RESOURCES);
    await gateway.start();
    const port = await freePort();
    base = `http://127.0.0.1:${port}`;
    const targets = [`127.0.0.1:${gateway.ready.adminPort}`];
    const config = {
      global: { scrape_interval: '500ms' },
      scrape_configs: [{ job_name: 'gateway', metrics_path: '/stats/prometheus', static_configs: [{ targets }] }],
    };
    writeFileSync(join(dir, 'prometheus.yaml'), JSON.stringify(config));
    const flags = [
      `--config.file=${dir}/prometheus.yaml`,
      `--storage.tsdb.path=${dir}/data`,
      `--web.listen-address=127.0.0.1:${port}`,
    ];
    prometheus = spawn(program, flags, { stdio: 'ignore' });
    await until(async () => (await fetch(`${base}/-/ready`).catch(() => undefined))?.ok, 'prometheus is ready');
    await until(async () => {
      for (const path of ['/up', '/few', '/key', '/rbac', '/none'])
        await fetch(gateway.url + path, { headers: { x: 'y' } });
      const rows = await query('rate(envoy_http_downstream_rq_total[10s]) > 0');
      return rows.length > 0 && (await query('count_over_time(up[10s]) > 5')).length > 0;
    }, 'some scrapes');
  });
  after(async () => {
    if (prometheus?.exitCode === null) {
      const ended = new Promise((resolve) => prometheus.once('close', resolve));
      prometheus.kill();
      await ended;
    }
    rmSync(dir, { recursive: true });
    await gateway.close();
  });

  for (const file of globSync('dashboards/*.json', { cwd: OBSERVABILITY }).toSorted()) {
    const { panels, templating } = JSON.parse(readFileSync(join(OBSERVABILITY, file), 'utf8')) as Dashboard;
    for (const { title, targets } of panels)
      for (const { expr } of targets)
        it(`${file}: "${title}" shows something: ${expr}`, async () => {
          const rows = await query(filled(expr));
          if (!RARE.test(expr)) expect(rows).to.not.deep.equal([]);
        });
    for (const { query: variable } of templating.list)
      if (typeof variable === 'object')
        it(`${file}: its variable has values: ${variable.query}`, async () => {
          const [, metric, label] = /^label_values\((\w+), (\w+)\)$/.exec(variable.query)!;
          expect(await api(`label/${label}/values?match[]=${metric}`)).to.not.deep.equal([]);
        });
  }

  it('evaluates every alert', async () => {
    const { groups } = parse(readFileSync(join(OBSERVABILITY, 'alerts.yaml'), 'utf8')) as {
      groups: { rules: { alert: string; expr: string }[] }[];
    };
    const firing: string[] = [];
    for (const { alert, expr } of groups.flatMap(({ rules }) => rules))
      if ((await query(expr.replaceAll(/\[\d+m\]/g, '[10s]'))).length > 0) firing.push(alert);
    expect(firing).to.include.members(['GatewayServerErrors', 'GatewayUpstreamErrors']);
    expect(firing).to.not.include('GatewayDown').and.not.include('GatewayConfigurationInvalid');
  });
});

import { silentLoggers } from '@edge-gateway/core';
import { createClusterServices, gatewayApiSource } from '@edge-gateway/kubernetes';
import { expect } from 'chai';
import { CONTROLLER_NAME } from '../../src/gateway-api/own-gateways.ts';
import { listOf, startScriptedApi, status, type ScriptedApi } from '../scripted-api.ts';

const log = silentLoggers.get('config');
const TIMING = { backoff: { firstMs: 20, maxMs: 100, resetMs: 60_000 } };
const GROUP = 'gateway.networking.k8s.io';
const GATEWAYS = `/apis/${GROUP}/v1/gateways`;
const object = (namespace: string, name: string, spec: object) => ({
  metadata: { name, namespace, resourceVersion: '1', generation: 1 },
  spec,
});
const https = (name: string, more: object = {}) => ({
  name: 'https',
  port: 8443,
  protocol: 'HTTPS',
  tls: { certificateRefs: [{ name, ...more }] },
});
const gateway = (namespace: string, name: string, listeners: object[], gatewayClassName = 'ours') =>
  object(namespace, name, { gatewayClassName, listeners });
const HTTP = { name: 'http', port: 8080, protocol: 'HTTP' };
const ROUTE = object('apps', 'r', { parentRefs: [{ name: 'gw' }], rules: [{}] });

interface Generated {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec?: { readonly virtualHost?: { readonly routes: readonly unknown[] } };
}

describe('the isolation of namespaces in the Gateway API', () => {
  let api: ScriptedApi;
  const closing: { close(): Promise<void> }[] = [];
  /** Objects by the path of their list. */
  let objects: Map<string, readonly object[]>;
  /** Field selectors of the Secrets that were read. */
  let secrets: Set<string>;
  let names: string[];
  let specs: Generated[];
  /** Paths of lists. */
  let forbidden: Set<string>;

  beforeEach(async () => {
    api = await startScriptedApi();
    secrets = new Set();
    names = [];
    specs = [];
    forbidden = new Set();
    objects = new Map<string, readonly object[]>([
      [
        `/apis/${GROUP}/v1/gatewayclasses`,
        [
          { metadata: { name: 'ours', resourceVersion: '1' }, spec: { controllerName: CONTROLLER_NAME } },
          { metadata: { name: 'theirs', resourceVersion: '1' }, spec: { controllerName: 'example.com/other' } },
        ],
      ],
      [GATEWAYS, [gateway('apps', 'gw', [HTTP])]],
      [`/apis/${GROUP}/v1/httproutes`, [ROUTE]],
    ]);
    api.onList = (query, res, req) => {
      const { pathname } = new URL(req.url!, 'http://localhost');
      if (pathname === `/apis/${GROUP}/v1`) {
        const resources = ['gatewayclasses', 'gateways', 'httproutes'].map((name) => ({ name }));
        return void res.end(JSON.stringify({ resources }));
      }
      if (forbidden.has(pathname)) return status(403, 'Forbidden')(query, res, req);
      if (pathname.endsWith('/secrets')) {
        secrets.add(`${pathname} ${query.get('fieldSelector')}`);
        return status(403, 'Forbidden')(query, res, req);
      }
      listOf(1, objects.get(pathname) ?? [])(query, res, req);
    };
  });
  afterEach(async () => {
    await Promise.all(closing.splice(0).map((each) => each.close()));
    await api.close();
  });

  async function start(): Promise<void> {
    const services = createClusterServices({ client: api.client, log, timing: TIMING });
    closing.push(services);
    await services.start(() => {});
    const source = gatewayApiSource({ client: api.client, services, log, timing: TIMING });
    closing.push(source);
    await source.start((change) => {
      for (const written of change.values())
        for (const { value } of written) {
          specs.push(value as Generated);
          names.push((value as Generated).metadata.name);
        }
    });
  }

  it('ignores targets of options that are no references', async () => {
    const option = object('apps', 'o', {
      targetRefs: [null, 'r', { kind: 'HTTPRoute' }, { kind: 'HTTPRoute', name: 'r' }],
    });
    objects.set('/apis/gateway.vendor.io/v1/routeoptions', [option]);
    await start();
    expect(names).to.include('gateway-api.apps.gw.8080');
  });

  it('keeps what is served if an object is malformed', async () => {
    objects.set(`/apis/${GROUP}/v1/grpcroutes`, [object('apps', 'g', { parentRefs: [null] })]);
    await start();
    expect(names).to.deep.equal([]);
  });

  it('reads only Secrets that Gateways of its classes may use', async () => {
    objects.set(GATEWAYS, [
      gateway('apps', 'gw', [https('own')]),
      gateway('evil', 'theirs', [https('a')], 'theirs'),
      gateway('evil', 'ungranted', [https('b', { namespace: 'apps' })]),
      gateway('evil', 'selector', [https('c,type=kubernetes.io/tls')]),
      gateway('evil', 'kind', [https('d', { kind: 'ConfigMap' })]),
    ]);
    await start();
    expect([...secrets]).to.deep.equal(['/api/v1/namespaces/apps/secrets metadata.name=own']);
  });

  it('does not wait for Secrets that cannot be read', async () => {
    objects.set(GATEWAYS, [gateway('apps', 'gw', [HTTP, https('own')])]);
    const began = performance.now();
    await start();
    expect(names).to.include('gateway-api.apps.gw.8080');
    expect(performance.now() - began).to.be.lessThan(8_000);
  });

  const SETTINGS = '/apis/settings.gw.vendor.io/v1/namespaces/gw-system/settings';
  const settings = (spec: object) => [object('gw-system', 'default', spec)];

  it('reads only the namespaces that the Settings name', async () => {
    objects.set(SETTINGS, settings({ watchNamespaces: ['apps'] }));
    objects.set(`/apis/${GROUP}/v1/namespaces/apps/gateways`, [gateway('apps', 'gw', [HTTP])]);
    objects.set(GATEWAYS, [gateway('apps', 'gw', [HTTP]), gateway('evil', 'gw', [HTTP])]);
    await start();
    expect(names).to.include('gateway-api.apps.gw.8080').and.not.include('gateway-api.evil.gw.8080');
  });

  it('reads only the namespaces that the Settings select', async () => {
    objects.set(SETTINGS, settings({ watchNamespaceSelectors: [{ matchLabels: { team: 'a' } }] }));
    const namespace = (name: string, team: string) => ({ metadata: { name, labels: { team }, resourceVersion: '1' } });
    objects.set('/api/v1/namespaces', [namespace('apps', 'a'), namespace('evil', 'b')]);
    objects.set(GATEWAYS, [gateway('apps', 'gw', [HTTP]), gateway('evil', 'gw', [HTTP])]);
    await start();
    expect(names).to.include('gateway-api.apps.gw.8080').and.not.include('gateway-api.evil.gw.8080');
  });

  it('rejects requests for options of namespaces that are not read', async () => {
    const filters = [
      { type: 'ExtensionRef', extensionRef: { group: 'gateway.vendor.io', kind: 'RouteOption', name: 'jwt' } },
    ];
    const route = object('apps', 'r', { parentRefs: [{ name: 'gw' }], rules: [{ filters }] });
    objects.set(`/apis/${GROUP}/v1/httproutes`, [route]);
    objects.set('/apis/gateway.vendor.io/v1/routeoptions', [object('other', 'jwt', { options: {} })]);
    await start();
    const host = specs.find(({ kind }) => kind === 'VirtualService');
    expect(JSON.stringify(host)).to.contain('"directResponseAction":{"status":500}');
  });

  it('accepts no route by the labels of its namespace if these may not be read', async () => {
    const allowedRoutes = { namespaces: { from: 'Selector', selector: { matchLabels: { team: 'a' } } } };
    objects.set(GATEWAYS, [gateway('apps', 'gw', [HTTP, { ...HTTP, name: 'labels', port: 8081, allowedRoutes }])]);
    forbidden.add('/api/v1/namespaces');
    await start();
    const routesAt = (port: number): unknown =>
      specs.find(({ metadata }) => metadata.name.startsWith(`gateway-api.apps.gw.${port}.`))!.spec!.virtualHost!.routes;
    expect(routesAt(8080)).to.have.length(1);
    expect(routesAt(8081)).to.deep.equal([]);
  });
});

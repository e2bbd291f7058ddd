import { silentLoggers, type SourceChange } from '@edge-gateway/core';
import { createClusterServices, gatewayApiSource, type ReflectorTiming } from '@edge-gateway/kubernetes';
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { makeCertificates } from '../../../../test/parts/certificates.ts';
import { until } from '../../../../test/parts/until.ts';
import { listOf, startScriptedApi, status, type Reply, type ScriptedApi } from '../scripted-api.ts';

const timing: Partial<ReflectorTiming> = { backoff: { firstMs: 10, maxMs: 40, resetMs: 60_000 } };
const log = silentLoggers.get('config');
const GROUP = '/apis/gateway.networking.k8s.io/v1';

const gatewayClass = {
  metadata: { name: 'edge-gateway', resourceVersion: '1' },
  spec: { controllerName: 'gateway.vendor.io/edge-gateway' },
};
const gateway = {
  metadata: { name: 'public', namespace: 'apps', resourceVersion: '1' },
  spec: { gatewayClassName: 'edge-gateway', listeners: [{ name: 'http', port: 8080, protocol: 'HTTP' }] },
};

describe('the source of the Gateway API', () => {
  let api: ScriptedApi;
  const open: { close(): Promise<void> }[] = [];

  beforeEach(async () => {
    api = await startScriptedApi();
    open.push(api);
  });
  afterEach(async () => {
    for (const each of open.splice(0).toReversed()) await each.close();
  });

  /** Lists one GatewayClass and one Gateway; `gateways` responds to lists of Gateways. */
  const lists =
    (gateways: Reply): Reply =>
    (query, res, req) => {
      const { pathname } = new URL(req.url!, 'http://localhost');
      if (pathname === GROUP) {
        const resources = ['gatewayclasses', 'gateways', 'httproutes'].map((name) => ({ name }));
        res.setHeader('content-type', 'application/json');
        res.end(JSON.stringify({ kind: 'APIResourceList', resources }));
      } else if (pathname === `${GROUP}/gateways`) gateways(query, res, req);
      else listOf(1, pathname === `${GROUP}/gatewayclasses` ? [gatewayClass] : [])(query, res, req);
    };

  async function start(now?: () => number): Promise<SourceChange[]> {
    const services = createClusterServices({ client: api.client, log, timing, endpoints: false });
    const source = gatewayApiSource({ client: api.client, services, log, timing, ...(now && { now }) });
    open.push(services, source);
    const changes: SourceChange[] = [];
    await source.start((change) => changes.push(change));
    source.setLeading(true);
    return changes;
  }

  const isServed = (changes: readonly SourceChange[]): boolean =>
    JSON.stringify(changes.map((change) => [...change.values()])).includes('apps.public');

  it('is complete when it has started', async () => {
    api.onList = lists(listOf(1, [gateway]));
    expect(isServed(await start())).to.equal(true);
  });

  it('writes the status of a listener again when its certificate is about to expire', async () => {
    const files = makeCertificates();
    const base64 = (file: string): string => readFileSync(file).toString('base64');
    const secret = {
      metadata: { name: 'cert', namespace: 'apps', resourceVersion: '1' },
      type: 'kubernetes.io/tls',
      data: { 'tls.crt': base64(files.cert), 'tls.key': base64(files.key) },
    };
    const notice = new X509Certificate(readFileSync(files.cert)).validToDate.getTime() - 14 * 86_400_000;
    files.remove();
    const tls = { certificateRefs: [{ name: 'cert' }] };
    const secured = {
      ...gateway,
      spec: { ...gateway.spec, listeners: [{ name: 'https', port: 8443, protocol: 'HTTPS', tls }] },
    };
    const messages: string[] = [];
    api.onList = (query, res, req) => {
      const { pathname } = new URL(req.url!, 'http://localhost');
      if (req.method === 'GET' && pathname.endsWith('/secrets')) return listOf(1, [secret])(query, res, req);
      if (req.method === 'GET') return lists(listOf(1, [secured]))(query, res, req);
      let body = '';
      req.on('data', (chunk: Buffer) => (body += chunk.toString()));
      req.on('end', () => {
        if (pathname.endsWith('/gateways/public/status')) messages.push(body);
        res.setHeader('content-type', 'application/json');
        res.end(JSON.stringify(secured));
      });
    };
    // The clock reaches the time of the notice when the first status is written.
    await start(() => (messages.length === 0 ? notice - 1 : notice));
    await until(() => messages.some((body) => body.includes('within 14 days')));
    expect(messages[0]).to.not.contain('within 14 days');
  });

  it('starts empty without permission to read Gateways, and serves them once it is granted', async () => {
    api.onList = lists(status(403, 'Forbidden'));
    const changes = await start();
    expect(isServed(changes)).to.equal(false);
    api.onList = lists(listOf(1, [gateway]));
    await until(() => isServed(changes));
  });
});

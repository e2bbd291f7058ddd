import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { parse } from 'yaml';
import { until } from '../../apps/gateway/test/gateway-process.ts';
import { goldenManifests } from '../helm-goldens.ts';
import { startEnvoyProcess, type EnvoyProcess } from '../parts/envoy-process.ts';
import { socketAddress } from './envoy-data-plane.ts';
import { envoyType } from './scenario.ts';

const run = promisify(execFile);

describe('an Envoy of the Helm chart that Kubernetes stops', () => {
  const manifests = goldenManifests('envoy');
  const held: ServerResponse[] = [];
  let backend: Server;
  let envoy: EnvoyProcess;

  before(async function () {
    this.timeout(120_000);
    backend = createServer((req, res) => (req.url === '/slow' ? void held.push(res) : res.end('fast'))).listen(
      0,
      '127.0.0.1',
    );
    await once(backend, 'listening');
    const { port } = backend.address() as AddressInfo;
    const map = manifests.find(({ metadata }) => metadata.name === 'edge-envoy')!;
    const [readiness] = parse(map['data']['envoy.yaml'] as string).static_resources.listeners;
    envoy = await startEnvoyProcess(
      JSON.stringify({
        admin: { address: socketAddress(0) },
        static_resources: {
          listeners: [{ ...readiness, address: socketAddress(0) }, listener()],
          clusters: [
            {
              name: 'app',
              type: 'STATIC',
              load_assignment: {
                cluster_name: 'app',
                endpoints: [{ lb_endpoints: [{ endpoint: { address: socketAddress(port) } }] }],
              },
            },
          ],
        },
      }),
      'envoy.json',
      2,
    );
  });
  after(async () => {
    await envoy?.close();
    backend?.closeAllConnections();
    backend?.close();
  });

  const listener = (): object => ({
    name: 'http',
    address: socketAddress(0),
    filter_chains: [
      {
        filters: [
          {
            name: 'http',
            typed_config: {
              ...envoyType('filters.network.http_connection_manager.v3.HttpConnectionManager'),
              stat_prefix: 'http',
              http_filters: [{ name: 'router', typed_config: envoyType('filters.http.router.v3.Router') }],
              route_config: {
                virtual_hosts: [
                  {
                    name: 'all',
                    domains: ['*'],
                    routes: [{ match: { prefix: '/' }, route: { cluster: 'app', timeout: '0s' } }],
                  },
                ],
              },
            },
          },
        ],
      },
    ],
  });

  it('fails readiness, closes connections, and waits for requests in progress', async function () {
    this.timeout(60_000);
    const group = manifests.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'edge')!;
    const [container] = group['spec'].template.spec.containers;
    const [shell, flag, script] = container.lifecycle.preStop.exec.command as [string, string, string];
    const grace = group['spec'].template.spec.terminationGracePeriodSeconds as number;
    const [sleep, drain] = [/sleep (\d+)\n/, /SECONDS \+ (\d+)/].map((pattern) => Number(pattern.exec(script)![1]));
    expect(grace).to.be.above(sleep! + drain!);

    const get = (name: string, path: string): Promise<Response> =>
      fetch(`http://127.0.0.1:${envoy.ports.get(name)}${path}`);
    expect((await get('readiness', '/ready')).status).to.equal(200);
    expect((await get('http', '/')).headers.get('connection')).to.not.equal('close');
    const slow = get('http', '/slow');
    await until(() => held.length === 1, 'the request in progress');
    let isDone = false;
    const here = script
      .replaceAll('127.0.0.1/19000', envoy.admin.replace(':', '/'))
      .replace(`sleep ${sleep}\n`, 'sleep 1\n');
    expect(here).to.not.equal(script);
    const draining = run(shell, [flag, here]).then(({ stderr }) => {
      isDone = true;
      return stderr;
    });
    await until(async () => (await get('readiness', '/ready')).status === 503, 'readiness fails');
    // Load balancers may not know yet.
    const late = await get('http', '/');
    expect([late.status, late.headers.get('connection')]).to.deep.equal([200, 'close']);
    // Longer than the wait for load balancers.
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    expect(isDone).to.equal(false);
    held[0]!.end('finished');
    expect(await (await slow).text()).to.equal('finished');
    expect(await draining).to.equal('');
  });
});

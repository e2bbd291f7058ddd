import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { nodeStatus, serveKubeletLogs, type KubeletLogs } from '../../../../test/parts/kubelet-logs.ts';
import { startKubernetes, type KubernetesApi } from '../../../../test/parts/kubernetes.ts';
import { call, type Outcome } from '../support/captured-io.ts';

const NAMESPACE = 'edge';
const ADDRESS = '127.0.0.1';
const line = (level: string, msg: string): string => `${JSON.stringify({ level, msg })}\n`;
const LOGS: Readonly<Record<string, string>> = {
  'gw-1/gw': line('info', 'ready') + line('error', 'connection lost'),
  'gateway-proxy-1/gateway-proxy': `${line('info', 'started')}plain text\n`,
  'gateway-proxy-1/sidecar': line('error', 'of the sidecar'),
};

describe('gatewayctl debug logs in a cluster', () => {
  let api: KubernetesApi;
  let kubelet: KubeletLogs;
  let directory: string;

  before(async function () {
    api = await startKubernetes(this);
    this.timeout(120_000);
    directory = mkdtempSync(join(tmpdir(), 'gatewayctl-'));
    kubelet = await serveKubeletLogs(ADDRESS, ({ namespace, pod, container }) =>
      namespace === NAMESPACE ? LOGS[`${pod}/${container}`] : undefined,
    );
    const pod = (name: string, containers: readonly string[], labels: object) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: NAMESPACE, labels },
      spec: { nodeName: 'n1', containers: containers.map((each) => ({ name: each, image: 'none' })) },
    });
    await api.kubectl(['create', 'namespace', NAMESPACE]);
    for (const object of [
      { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } },
      pod('gw-1', ['gw'], { gw: 'gw' }),
      pod('gateway-proxy-1', ['gateway-proxy', 'sidecar'], { gw: 'gateway-proxy' }),
      pod('other', ['other'], {}),
    ])
      await api.apply(JSON.stringify(object));
    const status = JSON.stringify({ status: nodeStatus(ADDRESS, kubelet) });
    await api.kubectl(['patch', 'node', 'n1', '--subresource=status', '--type=merge', '-p', status]);
  });
  after(async () => {
    kubelet?.close();
    await api?.close();
    if (directory) rmSync(directory, { recursive: true });
  });

  const ctl = (...argv: string[]): Promise<Outcome> =>
    call(['debug', 'logs', '-n', NAMESPACE, ...argv, '--kubeconfig', api.kubeconfig]);

  it('prints the logs of all containers of the gateway', async () => {
    const { code, stdout, stderr } = await ctl();
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    for (const text of Object.values(LOGS)) expect(stdout).to.contain(text);
  });

  it('prints only errors', async () => {
    const { stdout } = await ctl('--errors-only');
    expect(stdout.split('\n').sort().join('\n')).to.equal(
      `\n${line('error', 'connection lost')}${line('error', 'of the sidecar')}`.trimEnd(),
    );
  });

  it('writes an archive with a file for each container', async () => {
    const file = join(directory, 'logs.tgz');
    expect(await ctl('--zip', '-f', file)).to.include({ code: 0, stdout: '' });
    const archive = gunzipSync(readFileSync(file)).toString('latin1');
    for (const [key, text] of Object.entries(LOGS))
      expect(archive)
        .to.contain(`${key.replace('/', '_')}.log`)
        .and.contain(text);
  });

  it('prints the other logs if one cannot be read, and says which', async () => {
    await api.apply(
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'starting', namespace: NAMESPACE, labels: { gw: 'gw' } },
        spec: { nodeName: 'n1', containers: [{ name: 'gw', image: 'none' }] },
      }),
    );
    const { code, stdout, stderr } = await ctl();
    expect(code).to.equal(0);
    expect(stdout).to.contain(LOGS['gw-1/gw']);
    expect(stderr).to.match(/^Warning: no log of starting_gw: .+\n$/);
  });

  it('fails if there is no gateway', async () => {
    const { code, stderr } = await ctl('-n', 'default');
    expect(code).to.not.equal(0);
    expect(stderr).to.contain('no pod with the label gw in the namespace default');
  });
});

import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect } from 'chai';
import { startForwardingApi, type ForwardingApi } from '../../../../test/parts/forwarding-api.ts';
import { answer, recordedAnswers, type AnsweringServer } from '../support/answering-server.ts';
import { call, type Outcome } from '../support/captured-io.ts';

const NAMESPACE = 'gw-system';

const pod = (name: string, ready: 'True' | 'False', phase = 'Running'): object => ({
  metadata: { name, namespace: NAMESPACE },
  status: { phase, conditions: [{ type: 'Ready', status: ready }] },
});

describe('gatewayctl on a gateway in a cluster', () => {
  let api: ForwardingApi;
  let gateway: AnsweringServer;
  const tokens: (string | undefined)[] = [];

  before(async () => {
    const answers = recordedAnswers();
    gateway = await answer({
      ...answers,
      '/stats': (req: IncomingMessage, res: ServerResponse) => {
        tokens.push(req.headers.authorization);
        res.end(answers['/stats']);
      },
    });
    const port = Number(new URL(gateway.url).port);
    const list = (component: string): string =>
      `/api/v1/namespaces/${NAMESPACE}/pods?labelSelector=gw%3D${component}&limit=500`;
    api = await startForwardingApi({
      objects: {
        [list('gw')]: { items: [pod('gw-old', 'False'), pod('gw-new', 'True')] },
        [list('gateway-proxy')]: { items: [pod('gateway-proxy-1', 'True')] },
        [list('stopped')]: { items: [pod('stopped-1', 'False', 'Pending')] },
        '/version': { gitVersion: 'v1.36.0\u001b[2J' },
        [`/apis/apps/v1/namespaces/${NAMESPACE}/deployments?labelSelector=app%3Dgw&limit=500`]: { items: [] },
        [`/api/v1/namespaces/${NAMESPACE}/secrets/admin-token`]: { data: { token: btoa('the-admin-token\n') } },
      },
      portOf: () => port,
    });
  });

  after(async () => {
    await api?.close();
    await gateway?.close();
  });

  const ctl = (...argv: string[]): Promise<Outcome> => call([...argv, '--kubeconfig', api.kubeconfig]);

  it('reads the statistics of a proxy through the API server', async () => {
    const { code, stdout, stderr } = await ctl('proxy', 'stats');
    expect(stderr).to.equal('');
    expect(code).to.equal(0);
    expect(stdout).to.contain('server.live: 1');
    expect(api.forwarded.at(-1)!.url).to.equal(
      `/api/v1/namespaces/${NAMESPACE}/pods/gateway-proxy-1/portforward?ports=19000`,
    );
  });

  for (const command of [
    ['trace', 'GET', 'http://shop.example/cart'],
    ['dashboard', '--no-browser'],
  ]) {
    it(`rejects ${command[0]}, which needs addresses of the gateway`, async () => {
      const { code, stdout, stderr } = await ctl(...command);
      expect([code, stdout]).to.deep.equal([2, '']);
      expect(stderr).to.contain(`${command[0]} does not work through the API server of a cluster`);
    });
  }

  it('prints no control characters of the API server', async () => {
    const { stdout } = await ctl('version', '-o', 'table');
    expect(stdout).to.contain('Kubernetes version: v1.36.0\\u001b[2J');
  });

  it('asks a ready pod of the control plane', async () => {
    const { code } = await ctl('explain', 'GET', 'http://shop.example/cart', '--kubeconfig', api.kubeconfig);
    expect(code).to.be.oneOf([0, 1]);
    expect(api.forwarded.some(({ url }) => url.includes('/pods/gw-new/portforward?ports=9091'))).to.equal(true);
    expect(api.forwarded.some(({ url }) => url.includes('/pods/gw-old/'))).to.equal(false);
  });

  it('names the label and the namespace if no pod runs', async () => {
    const { code, stderr } = await ctl('proxy', 'stats', '--name', 'stopped');
    expect(code).to.equal(1);
    expect(stderr).to.contain('no pod with the label gw=stopped is running in the namespace gw-system');
  });

  it('looks in the namespace of the flag', async () => {
    const { stderr } = await ctl('proxy', 'dump', '-n', 'elsewhere');
    expect(stderr).to.contain('in the namespace elsewhere');
  });

  it('sends the token in the Secret of the gateway', async () => {
    await ctl('proxy', 'stats');
    expect(tokens.at(-1)).to.equal('Bearer the-admin-token');
  });
});

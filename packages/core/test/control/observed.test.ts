import { expect } from 'chai';
import { createControlPlane } from '../../src/control/control-plane.ts';
import type { Observed } from '../../src/resource/stored.ts';
import { memorySource } from '../../src/source/memory.ts';

const KEY = 'GraphQLApi/gw-system/a';
const TEXT = `apiVersion: graphql.gw.vendor.io/v1beta1
kind: GraphQLApi
metadata: { name: a }
spec:
  executableSchema:
    executor: { remote: { upstreamRef: { name: a } } }
`;
const OBSERVED: Observed = {
  problems: [{ severity: 'error', path: ['spec', 'executableSchema'], message: 'it speaks another language' }],
  notes: ['it was last seen today'],
};

describe('observations of a resource', () => {
  async function start() {
    const source = memorySource({ a: TEXT });
    const controlPlane = createControlPlane({ source });
    await controlPlane.start();
    return { source, controlPlane, status: () => controlPlane.state!.statuses.get(KEY)!.statuses['gw-system']! };
  }

  it('are reported in its status and as an issue at its field, and keep it in use', async () => {
    const { controlPlane, status } = await start();
    controlPlane.observe(KEY, OBSERVED);
    expect(status()).to.deep.equal({
      state: 'Rejected',
      reason: 'spec.executableSchema: it speaks another language',
      reportedBy: 'gw',
      messages: ['it was last seen today'],
    });
    const [issue] = controlPlane.state!.issues;
    expect(issue).to.deep.include({ code: 'LEARNED', origin: { file: 'memory:a', line: 5, column: 3 } });
    expect(controlPlane.state!.resources.has(KEY)).to.equal(true);
  });

  it('are kept when the resource is updated, and removed on request', async () => {
    const { source, controlPlane, status } = await start();
    controlPlane.observe(KEY, { ...OBSERVED, problems: [] });
    expect(status()).to.deep.include({ state: 'Accepted', messages: OBSERVED.notes });
    source.set('a', TEXT.replace('name: a } }', 'name: b } }'));
    expect(status()).to.deep.include({ messages: OBSERVED.notes });
    controlPlane.observe(KEY, undefined);
    expect(status()).to.deep.equal({ state: 'Accepted', reportedBy: 'gw' });
  });

  it('of several observers stand beside each other', async () => {
    const { controlPlane, status } = await start();
    controlPlane.observe(KEY, OBSERVED);
    controlPlane.observe(KEY, { problems: [], notes: ['a proxy serves it'] }, 'proxies');
    expect(status().messages).to.deep.equal(['it was last seen today', 'a proxy serves it']);
    controlPlane.observe(KEY, undefined);
    expect(status()).to.deep.equal({ state: 'Accepted', reportedBy: 'gw', messages: ['a proxy serves it'] });
    controlPlane.observe(KEY, undefined, 'proxies');
    expect(status()).to.deep.equal({ state: 'Accepted', reportedBy: 'gw' });
  });

  it('stand beside the problems of the files that the resource names', async () => {
    const text = `apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: u }
spec: { static: { hosts: [{ addr: a, port: 1 }] }, sslConfig: { sslFiles: { rootCa: /nowhere/ca.crt } } }
`;
    const source = memorySource({ u: text });
    const controlPlane = createControlPlane({ source });
    await controlPlane.start();
    const reason = () => controlPlane.state!.statuses.get('Upstream/gw-system/u')!.statuses['gw-system']!.reason;
    const observed = { problems: [{ ...OBSERVED.problems[0]!, path: ['spec'] }], notes: [] };
    controlPlane.observe('Upstream/gw-system/u', observed);
    expect(reason()).to.include('ca.crt cannot be read').and.to.include('it speaks another language');
    source.set('u', text.replace('port: 1', 'port: 2'));
    expect(reason()).to.include('ca.crt cannot be read').and.to.include('it speaks another language');
    controlPlane.observe('Upstream/gw-system/u', undefined);
    expect(reason()).to.include('ca.crt cannot be read').and.not.to.include('it speaks another language');
    await controlPlane.close();
  });

  it('cause no change if repeated, or for a missing resource', async () => {
    const { controlPlane } = await start();
    controlPlane.observe(KEY, OBSERVED);
    const { revision } = controlPlane.state!;
    controlPlane.observe(KEY, structuredClone(OBSERVED));
    controlPlane.observe('GraphQLApi/gw-system/b', OBSERVED);
    expect(controlPlane.state!.revision).to.equal(revision);
  });
});

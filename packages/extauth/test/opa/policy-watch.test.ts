import { createControlPlane, memorySource, silentLoggers, type ControlPlane } from '@edge-gateway/core';
import { expect } from 'chai';
import { skipWithoutOpa } from '../../../../test/parts/opa.ts';
import { createPolicyCompiler, createPolicyWatch } from '../../src/index.ts';

const resources = (module: string, query = 'data.a.allow'): string => `
apiVersion: v1
kind: ConfigMap
metadata: { name: policy, namespace: gw-system }
data:
  a.rego: |
    ${module}
---
apiVersion: enterprise.gw.vendor.io/v1
kind: AuthConfig
metadata: { name: guard, namespace: gw-system }
spec:
  configs: [{ opaAuth: { modules: [{ name: policy }], query: '${query}' } }]
`;
const GOOD = 'package a; allow := true'.replace('; ', '\n    ');

describe('the watch of policies', () => {
  let program: string;
  let controlPlane: ControlPlane;
  const source = memorySource({});
  before(async function () {
    program = await skipWithoutOpa(this);
    controlPlane = createControlPlane({ source, log: silentLoggers });
    await controlPlane.start();
  });
  after(() => controlPlane?.close());

  const statusOf = () => controlPlane.state!.statuses.get('AuthConfig/gw-system/guard')!.statuses['gw-system']!;

  it('rejects AuthConfigs whose modules or query cannot be compiled or loaded, until they can', async () => {
    const watch = createPolicyWatch({ compiler: createPolicyCompiler({ program }), observe: controlPlane.observe });
    for (const [text, state, reason] of [
      [resources(GOOD), 'Accepted', ''],
      [resources('package a allow {'), 'Rejected', 'rego_parse_error'],
      [resources(GOOD), 'Accepted', ''],
      [resources(GOOD, 'data.a.allow; true'), 'Rejected', 'rego_parse_error'],
      [resources(GOOD, 'http.send({}).status == 200'), 'Rejected', 'not available: http.send'],
      [resources(GOOD), 'Accepted', ''],
    ] as const) {
      source.set('resources', text);
      await watch.update(controlPlane.state!);
      expect(statusOf().state, text).to.equal(state);
      expect(statusOf().reason ?? '').to.include(reason);
      if (state === 'Rejected') expect(statusOf().reason).to.include('spec.configs[0].opaAuth: ');
    }
    watch.close();
  }).timeout(60_000);

  it('names the program that is missing, and forgets removed AuthConfigs', async () => {
    const compiler = createPolicyCompiler({ program: 'opa-that-is-missing' });
    const watch = createPolicyWatch({ compiler, observe: controlPlane.observe });
    source.set('resources', resources(GOOD));
    await watch.update(controlPlane.state!);
    expect(statusOf().state).to.equal('Rejected');
    expect(statusOf().reason).to.include('need the program opa');
    source.set('resources', 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: other, namespace: gw-system }\n');
    await watch.update(controlPlane.state!);
    source.set('resources', resources(GOOD));
    expect(statusOf().state).to.equal('Accepted');
    watch.close();
  });
});

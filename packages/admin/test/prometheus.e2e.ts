import { spawnSync } from 'node:child_process';
import { createContext, createMetrics } from '@edge-gateway/core';
import { expect } from 'chai';
import { skipWithout } from '../../../test/parts/apt.ts';
import { createControlAdmin, createProxyAdmin } from '../src/index.ts';
import { controlOptions } from './control/control-sample.ts';
import { listen, sampleOptions, secrets } from './sample.ts';

/** What promtool exits with when a text can be read, but names could be better. */
const ONLY_ADVICE = 3;

describe('promtool', () => {
  before(async function () {
    await skipWithout(this, 'promtool', 'prometheus');
  });

  const metrics = createMetrics();
  for (const name of ['a_gw-system', 'quote"back\\slash']) {
    const labels = { envoy_cluster_name: name };
    metrics.counter({ path: `cluster.${name}.rq`, metric: 'envoy_cluster_upstream_rq_total', labels }).value = 3;
    metrics.histogram({ path: `cluster.${name}.time`, metric: 'envoy_cluster_upstream_rq_time', labels }).observe(7);
  }

  const PORTS = {
    '/stats/prometheus': () => createProxyAdmin(sampleOptions({ context: createContext({ metrics, secrets }) })),
    '/metrics': () => createControlAdmin(controlOptions({ metrics })),
  };
  for (const [path, create] of Object.entries(PORTS)) {
    it(`accepts ${path}`, async () => {
      const port = await listen(create());
      const { text } = await port.request(path);
      await port.close();
      const { status, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' });
      expect([0, ONLY_ADVICE], stderr).to.include(status);
      expect(stderr).not.to.match(/parsing error/);
    });
  }

  it('rejects invalid metrics', () => {
    const { status } = spawnSync('promtool', ['check', 'metrics'], { input: 'a{b="c} 1\n' });
    expect(status).to.equal(1);
  });
});

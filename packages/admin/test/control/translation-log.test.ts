import { createControlPlane, memorySource } from '@edge-gateway/core';
import { expect } from 'chai';
import { followTranslations } from '../../src/index.ts';

const upstream = (name: string, spec: unknown): object => ({
  apiVersion: 'gw.vendor.io/v1',
  kind: 'Upstream',
  metadata: { name, namespace: 'gw-system' },
  spec,
});
const VALID = { static: { hosts: [{ addr: '127.0.0.1', port: 80 }] } };

describe('the log of translations', () => {
  it('records each with its duration, newest first, at most 50', async () => {
    const source = memorySource({ a: upstream('a', VALID) });
    const controlPlane = createControlPlane({ source });
    const log = followTranslations(controlPlane, () => 7);
    await controlPlane.start();
    source.set('b', upstream('b', { nonsense: true }));
    const [second, first] = log.records();
    expect(first).to.include({ revision: 1, at: 7, resources: 1, problems: 0 });
    expect(second).to.include({ revision: 2, resources: 1 });
    expect(second!.problems).to.be.greaterThan(0);
    expect(first!.durationMs).to.be.greaterThan(0);
    for (let i = 0; i < 60; i++) source.set('c', upstream(`c${i}`, VALID));
    expect(log.records()).to.have.length(50);
    expect(log.records()[0]!.revision).to.equal(62);
    log.close();
    source.delete('c');
    expect(log.records()[0]!.revision).to.equal(62);
    await controlPlane.close();
  });
});

import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createControlPlane, memorySource, silentLoggers, type ControlPlaneState } from '@edge-gateway/core';
import { expect } from 'chai';
import { createStateDecoder, createStateEncoder, secretsOf } from '../../src/resources/index.ts';
import { transfer } from './round-trip.ts';

const FOLDER = join(import.meta.dirname, '../../../core/test/golden');
const cases = readdirSync(FOLDER).filter((file) => file.endsWith('.in.yaml'));

/** Fields without a value are left out on the way. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe('the snapshots of the golden translations', () => {
  it('are the same at a proxy', async () => {
    let listeners = 0;
    for (const file of cases) {
      const source = memorySource({ file: readFileSync(join(FOLDER, file), 'utf8') });
      const controlPlane = createControlPlane({ source, certificateFiles: false, log: silentLoggers });
      let state: ControlPlaneState | undefined;
      controlPlane.subscribe((next) => (state = next));
      await controlPlane.start();
      for (const snapshot of state!.snapshots.values()) {
        const decoder = createStateDecoder();
        const unserved = state!.unservedListeners.get(snapshot.proxy) ?? [];
        const secrets = secretsOf(snapshot, state!.resources, controlPlane.secrets);
        transfer(createStateEncoder().encode({ snapshot, unserved, secrets }), decoder);
        expect(decoder.isComplete, file).to.equal(true);
        const built = decoder.build();
        expect(built.rejections, file).to.deep.equal([]);
        expect(built.snapshot, file).to.deep.equal(plain(snapshot));
        expect(built.unserved, file).to.deep.equal(plain(unserved));
        listeners += snapshot.listeners.length;
      }
      await controlPlane.close();
    }
    expect(listeners).to.be.greaterThan(200);
  });
});

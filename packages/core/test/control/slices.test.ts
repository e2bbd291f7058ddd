import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import type { AcceptedFile } from '../../src/control/accepted/accepted-file.ts';
import { createControlPlane, type ControlPlane } from '../../src/control/control-plane.ts';
import type { ControlPlaneState } from '../../src/control/state.ts';
import { silentLoggers } from '../../src/observe/logger.ts';
import { memorySource, type MemorySource } from '../../src/source/memory.ts';

const MANY = 600;

const services = (count: number, status: number): object[] =>
  Array.from({ length: count }, (_, i) => ({
    apiVersion: 'gateway.vendor.io/v1',
    kind: 'VirtualService',
    metadata: { name: `service-${i}` },
    spec: {
      virtualHost: {
        domains: [`host-${i}.example`],
        routes: [{ matchers: [{ prefix: '/' }], directResponseAction: { status } }],
      },
    },
  }));

describe('a change of many resources', () => {
  let source: MemorySource;
  let controlPlane: ControlPlane;
  let states: ControlPlaneState[];

  beforeEach(async () => {
    source = memorySource({ few: services(1, 200) });
    controlPlane = createControlPlane({ source, log: silentLoggers });
    states = [];
    controlPlane.subscribe((state) => void states.push(state));
    await controlPlane.start();
  });
  afterEach(() => controlPlane.close());

  /** The statuses of the direct responses that a state serves. */
  const statusesOf = ({ snapshots }: ControlPlaneState): readonly unknown[] => {
    const hosts = [...snapshots.values()][0]!.listeners.flatMap(({ virtualHosts }) => virtualHosts);
    const actions = hosts.flatMap(({ routes }) => routes.map(({ action }) => action as { status?: number }));
    return [...new Set(actions.map(({ status }) => status))];
  };

  it('is applied in slices, between which other work runs', async () => {
    let turns = 0;
    let counting = setImmediate(function count() {
      turns++;
      counting = setImmediate(count);
    });
    source.set('few', services(MANY, 201));
    expect(states).to.have.lengthOf(1);
    await controlPlane.settled();
    clearImmediate(counting);
    // At most 100 documents are validated, or virtual services translated, in one slice.
    expect(turns).to.be.at.least(8);
    expect(states).to.have.lengthOf(2);
    expect(controlPlane.state!.resources.size).to.equal(MANY);
    expect(statusesOf(states[1]!)).to.deep.equal([201]);
  });

  for (const turns of [0, 2, 6, 12, 18]) {
    it(`is followed by newer changes, the last of which wins, after ${turns} turns`, async () => {
      source.set('few', services(MANY, 201));
      for (let i = 0; i < turns; i++) await nextTurn();
      source.set('few', services(MANY, 202));
      source.set('other', services(MANY + 1, 203).slice(MANY));
      source.set('few', services(MANY, 203));
      await controlPlane.settled();
      expect(statusesOf(controlPlane.state!)).to.deep.equal([203]);
      expect(controlPlane.state!.resources.size).to.equal(MANY + 1);
      expect(states.at(-1)).to.equal(controlPlane.state);
      // The first of the newer changes may begin at once, and the others follow it together.
      expect(states.length).to.be.within(2, 4);
    });
  }

  it('is published while newer ones arrive without end', async () => {
    for (let status = 201; status < 600 && states.length < 3; status++) {
      source.set('few', services(MANY, status));
      await nextTurn();
    }
    expect(states).to.have.lengthOf(3);
    await controlPlane.settled();
    // Changes that waited are applied together.
    expect(states.length).to.be.at.most(4);
  });

  it('is complete before a change is previewed, without delaying other work', async () => {
    source.set('few', services(MANY, 201));
    source.set('few', services(MANY, 202));
    const preview = controlPlane.preview(new Map());
    expect(states).to.have.lengthOf(1);
    expect(await preview).to.deep.equal({ added: [], kept: [] });
    expect(statusesOf(controlPlane.state!)).to.deep.equal([202]);
    await controlPlane.settled();
    expect(statusesOf(states.at(-1)!)).to.deep.equal([202]);
  });

  it('is previewed while newer ones arrive without end', async () => {
    source.set('few', services(MANY, 201));
    const previews: unknown[] = [];
    void controlPlane.preview(new Map()).then((preview) => previews.push(preview));
    for (let i = 0; previews.length === 0; i++) {
      source.set('few', services(MANY, 200 + (i % 400)));
      await nextTurn();
    }
    await controlPlane.settled();
  });

  it('is applied in slices by a listener that returns steps, and newer ones follow it together', async () => {
    const applied: number[] = [];
    const applying: number[] = [];
    controlPlane.subscribe(function* (state) {
      applying.push(state.revision);
      for (let i = 0; i < 2000; i++) yield;
      applied.push(state.revision);
    });
    expect(applied, 'the current state at once').to.deep.equal([1]);
    source.set('few', services(1, 201));
    expect(applied).to.deep.equal([1]);
    source.set('few', services(1, 202));
    source.set('few', services(1, 203));
    await nextTurn();
    expect(applying).to.have.lengthOf(2);
    await controlPlane.settled();
    expect(applied).to.deep.equal(applying);
    expect(applied).to.have.lengthOf(3);
    expect(statusesOf(states.at(-1)!)).to.deep.equal([203]);
  });

  it('of which the steps of a listener fail is still published to others', async () => {
    controlPlane.subscribe(function* ({ revision }) {
      yield;
      if (revision > 1) throw new Error('broken');
    });
    const published: number[] = [];
    controlPlane.subscribe(({ revision }) => void published.push(revision));
    source.set('few', services(1, 201));
    await controlPlane.settled();
    expect(published).to.deep.equal([1, 2]);
  });

  it('ends the steps of a listener when the control plane closes', async () => {
    let hasEnded = false;
    let isComplete = false;
    controlPlane.subscribe(function* ({ revision }) {
      if (revision === 1) return;
      try {
        for (let i = 0; i < 5000; i++) yield;
        isComplete = true;
      } finally {
        hasEnded = true;
      }
    });
    source.set('few', services(1, 201));
    const preview = controlPlane.preview(new Map());
    await controlPlane.close();
    expect([hasEnded, isComplete]).to.deep.equal([true, false]);
    expect(await preview).to.equal(undefined);
  });

  it('is the same as one that is applied at once', async () => {
    source.set('few', services(MANY, 201));
    await controlPlane.settled();
    const other = createControlPlane({ source: memorySource({ few: services(MANY, 201) }), log: silentLoggers });
    await other.start();
    await other.close();
    const versions = ({ state }: ControlPlane): unknown[] =>
      Array.from(state!.snapshots, ([name, { version }]) => [name, version]);
    expect(versions(controlPlane)).to.deep.equal(versions(other));
  });

  it('is given up when the control plane closes', async () => {
    source.set('few', services(MANY, 201));
    await controlPlane.close();
    await nextTurn();
    expect(await controlPlane.preview(new Map())).to.equal(undefined);
    expect(states).to.have.lengthOf(1);
  });

  it('is saved if it was published when the control plane closes', async () => {
    const saved: number[] = [];
    const accepted: AcceptedFile = {
      read: () => undefined,
      write: (accepted) => void saved.push(accepted.at(-1)!.size),
      close: async () => undefined,
    };
    const other = createControlPlane({ source, log: silentLoggers, accepted });
    await other.start();
    other.subscribe(({ resources }) => resources.size === MANY && void other.close());
    source.set('few', services(MANY, 201));
    await other.settled();
    await other.close();
    expect(saved).to.deep.equal([1, MANY]);
  });

  it('of which the first state consists is complete when the start has ended', async () => {
    const other = createControlPlane({ source: memorySource({ few: services(MANY, 201) }), log: silentLoggers });
    await other.start();
    expect(other.state!.resources.size).to.equal(MANY);
    await other.close();
  });
});

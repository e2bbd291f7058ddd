import { deserialize } from 'node:v8';
import { createControlPlane, memorySource, runSteps, type ControlPlaneState, type Snapshot } from '@edge-gateway/core';
import { secretsOf, type DecodedState, type ProxyState } from '@edge-gateway/xds/resources';
import { expect } from 'chai';
import type { StateChange } from '../../src/workers/messages.ts';
import { createStateDecoder } from '../../src/workers/state-decoder.ts';
import { createStateEncoder } from '../../src/workers/state-encoder.ts';
import { direct, upstream } from './resources.ts';

const service = (name: string, body: string): string =>
  direct(body).replace('name: direct', `name: ${name}`).replace("['*']", `['${name}']`);

const SECRET = `
apiVersion: v1
kind: Secret
metadata: { name: s }
type: Opaque
stringData: { a: one }
`;

const HEADERS =
  '{ headerManipulation: { requestHeadersToAdd: [{ headerSecretRef: { name: s, namespace: gw-system } }] } }';

describe('the state of workers', () => {
  let state: ControlPlaneState;
  let source: ReturnType<typeof memorySource>;
  let close: () => Promise<void>;
  beforeEach(async () => {
    source = memorySource({
      a: service('a', 'one').replace('routes:', `options: ${HEADERS}\n    routes:`),
      b: service('b', 'two'),
      up: upstream(1),
      s: SECRET,
    });
    const controlPlane = createControlPlane({ source, certificateFiles: false });
    controlPlane.subscribe((next) => (state = next));
    await controlPlane.start();
    close = () => controlPlane.close();
  });
  afterEach(() => close());

  const snapshot = (): Snapshot => state.snapshots.get('gateway-proxy')!;
  const current = (): ProxyState => ({
    snapshot: snapshot(),
    unserved: [],
    secrets: secretsOf(snapshot(), state.resources, { get: () => undefined }),
  });

  /** A worker that serves nothing, but keeps what it was told to serve. */
  function createWorker(failing: (state: DecodedState) => boolean = () => false) {
    const decoder = createStateDecoder();
    const applied: Snapshot[] = [];
    return {
      secrets: decoder.secrets,
      applied,
      apply: (change: Uint8Array) =>
        runSteps(
          decoder.apply(change, function* (next) {
            yield;
            applied.push(next.snapshot);
            const rejection = {
              type: HOST,
              resource: 'listener-::-8080/gw-system.a',
              field: 'routes[0]',
              message: 'bad',
            };
            return { failed: failing(next) ? [rejection] : [] };
          }),
        ),
    };
  }
  const HOST = 'type.googleapis.com/edge_gateway.config.v1.VirtualHost';

  it('is the same in the worker, with the secrets', () => {
    const worker = createWorker();
    const { revision } = worker.apply(createStateEncoder().encode(current()).changeFrom(undefined));
    expect(revision).to.equal(1);
    expect(worker.applied).to.deep.equal([snapshot()]);
    const ref = { name: 's', namespace: 'gw-system' };
    expect(worker.secrets.get(ref)).to.deep.equal(state.secrets.get(ref));
    expect(worker.secrets.get({ name: 'gone', namespace: 'gw-system' })).to.equal(undefined);
  });

  it('contains only what changed, and keeps the rest', () => {
    const encoder = createStateEncoder();
    const worker = createWorker();
    const first = encoder.encode(current());
    worker.apply(first.changeFrom(undefined));
    source.set('a', service('a', 'changed'));
    const change = encoder.encode(current()).changeFrom(first);
    const { types } = deserialize(change) as StateChange;
    expect(types.flatMap(({ changed }) => changed.map(({ name }) => name))).to.deep.equal([
      'listener-::-8080/gw-system.a',
      'gateway-proxy',
    ]);
    worker.apply(change);
    const [before, after] = worker.applied;
    expect(after).to.deep.equal(snapshot());
    expect(after!.listeners[0]!.virtualHosts[1]).to.equal(before!.listeners[0]!.virtualHosts[1]);
    expect(after!.listeners[0]!.httpOptions).to.equal(before!.listeners[0]!.httpOptions);
  });

  it('skips states: a worker gets the difference to the one that it has', () => {
    const encoder = createStateEncoder();
    const worker = createWorker();
    const first = encoder.encode(current());
    worker.apply(first.changeFrom(undefined));
    for (const body of ['x', 'y', 'z']) {
      source.set('a', service('a', body));
      encoder.encode(current());
    }
    source.delete('b');
    const last = encoder.encode(current());
    expect(last.changeFrom(first)).to.equal(last.changeFrom(first));
    worker.apply(last.changeFrom(first));
    expect(worker.applied.at(-1)).to.deep.equal(snapshot());
    const fresh = createWorker();
    fresh.apply(last.changeFrom(undefined));
    expect(fresh.applied).to.deep.equal([snapshot()]);
  });

  it('reports parts that cannot be compiled, and keeps their previous version', () => {
    const encoder = createStateEncoder();
    const bodyOf = (served: Snapshot): unknown => (served.listeners[0]!.virtualHosts[0]!.routes[0]!.action as any).body;
    const worker = createWorker((next) => bodyOf(next.snapshot) === 'bad');
    const first = encoder.encode(current());
    expect(worker.apply(first.changeFrom(undefined)).rejections).to.deep.equal([]);
    source.set('a', service('a', 'bad'));
    const { rejections } = worker.apply(encoder.encode(current()).changeFrom(first));
    expect(rejections.map(({ field }) => field)).to.deep.equal(['routes[0]']);
    expect(worker.applied.map(bodyOf)).to.deep.equal(['one', 'bad', 'one']);
  });
});

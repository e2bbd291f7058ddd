import { expect } from 'chai';
import { condition } from '../../src/gateway-api/conditions.ts';
import { leftStatuses, statusPatch } from '../../src/gateway-api/status-patches.ts';
import { CONTROLLER_NAME } from '../../src/gateway-api/own-gateways.ts';
import type { NewStatus } from '../../src/gateway-api/translation.ts';

const [THEN, NOW] = ['2026-01-01T00:00:00Z', '2026-02-02T00:00:00Z'];
const accepted = condition('Accepted', 1, undefined);
const rejected = condition('Accepted', 1, { reason: 'Invalid', message: 'no' });
const parentRef = { group: 'g', kind: 'Gateway', name: 'gw' };
const timed = (at: string, of: object = accepted) => ({ ...of, lastTransitionTime: at });

function gateway(status: object, before?: unknown): NewStatus {
  return {
    kind: 'Gateway',
    object: { metadata: { name: 'gw' }, ...(before !== undefined && { status: before }) },
    status: { ...status },
  };
}

function route(parents: object[], before?: unknown): NewStatus {
  const object = { metadata: { name: 'r', namespace: 'a' }, ...(before !== undefined && { status: before }) };
  return { kind: 'HTTPRoute', object, status: { parents } };
}

describe('statuses of the Gateway API', () => {
  it('are written with the time of the transition, and not again', () => {
    const first = statusPatch(gateway({ conditions: [accepted] }), THEN);
    expect(first).to.deep.equal({ conditions: [timed(THEN)] });
    expect(statusPatch(gateway({ conditions: [accepted] }, first), NOW)).to.equal(undefined);
    expect(statusPatch(gateway({ conditions: [rejected] }, first), NOW)).to.deep.equal({
      conditions: [timed(NOW, rejected)],
    });
    const newer = condition('Accepted', 2, undefined);
    expect(statusPatch(gateway({ conditions: [newer] }, first), NOW)).to.deep.equal({
      conditions: [timed(THEN, newer)],
    });
  });

  it('replace the placeholder that the API server sets', () => {
    const placeholder = {
      conditions: [{ type: 'Accepted', status: 'Unknown', reason: 'Pending', message: '', lastTransitionTime: THEN }],
    };
    expect(statusPatch(gateway({ conditions: [accepted] }, placeholder), NOW)).to.deep.equal({
      conditions: [timed(NOW)],
    });
  });

  it('keep the times of each listener', () => {
    const listeners = [{ name: 'a', conditions: [accepted] }];
    const first = statusPatch(gateway({ conditions: [], listeners }), THEN)!;
    const both = [...listeners, { name: 'b', conditions: [accepted] }];
    const patch = statusPatch(gateway({ conditions: [], listeners: both }, first), NOW)!;
    expect(patch['listeners']).to.deep.equal([
      { name: 'a', conditions: [timed(THEN)] },
      { name: 'b', conditions: [timed(NOW)] },
    ]);
  });

  it('of routes keep the entries of other controllers', () => {
    const other = { parentRef, controllerName: 'example.com/other', conditions: [] };
    const own = { parentRef, controllerName: CONTROLLER_NAME, conditions: [accepted] };
    const patch = statusPatch(route([own], { parents: [other] }), THEN)!;
    expect(patch).to.deep.equal({ parents: [other, { ...own, conditions: [timed(THEN)] }] });
    expect(statusPatch(route([own], patch), NOW)).to.equal(undefined);
    expect(statusPatch(route([], patch), NOW)).to.deep.equal({ parents: [other] });
  });

  it('of routes that left are found, and those of other controllers are not', () => {
    const own = { metadata: { name: 'r', namespace: 'a' }, status: { parents: [{ controllerName: CONTROLLER_NAME }] } };
    const foreign = {
      metadata: { name: 'f', namespace: 'a' },
      status: { parents: [{ controllerName: 'example.com/other' }] },
    };
    const plain = { metadata: { name: 'p', namespace: 'a' } };
    const left = leftStatuses('HTTPRoute', [own, foreign, plain], new Set());
    expect(left.map(({ object }) => object.metadata.name)).to.deep.equal(['r']);
    expect(leftStatuses('HTTPRoute', [own], new Set(['HTTPRoute a/r']))).to.deep.equal([]);
  });
});

import { createRoundRobin } from '@edge-gateway/core';
import type { Algorithm, PickHost } from './algorithm.ts';
import { inTurnBy } from './changing-weights.ts';
import type { SlowStart } from './load-settings.ts';
import { slowStartEnd, slowStartShare } from './slow-start.ts';

/** The hosts in turn by their weights. */
export function roundRobin(slowStart: SlowStart | undefined): Algorithm {
  return (hosts) => {
    const next = createRoundRobin(hosts);
    const steady: PickHost = () => next()?.host;
    if (!slowStart) return steady;
    const end = slowStartEnd(hosts, slowStart);
    const slow = inTurnBy(hosts, ({ host, weight }) => weight * slowStartShare(host, slowStart, performance.now()));
    return () => (performance.now() < end ? slow() : steady());
  };
}

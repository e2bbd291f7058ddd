import type { Endpoint } from '../contract/snapshot.ts';

interface Turn {
  readonly endpoint: Endpoint;
  readonly weight: number;
  current: number;
}

/**
 * Returns the endpoints in turn by their weights, evenly spread: with weights 3 and 1
 * the order is a a b a, not a a a b. Never returns endpoints without a positive weight; returns `undefined` if there are no others.
 *
 * @example
 * const next = createRoundRobin(upstream.endpoints);
 * const endpoint = next();
 */
export function createRoundRobin(endpoints: readonly Endpoint[]): () => Endpoint | undefined {
  const turns: Turn[] = endpoints
    .filter((endpoint) => endpoint.weight > 0)
    .map((endpoint) => ({ endpoint, weight: endpoint.weight, current: 0 }));
  if (turns.length < 2) return () => turns[0]?.endpoint;
  const total = turns.reduce((sum, turn) => sum + turn.weight, 0);
  return () => {
    let best = turns[0]!;
    for (const turn of turns) {
      turn.current += turn.weight;
      if (turn.current > best.current) best = turn;
    }
    best.current -= total;
    return best.endpoint;
  };
}

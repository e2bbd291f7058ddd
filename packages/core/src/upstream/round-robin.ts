interface Turn<T> {
  readonly item: T;
  readonly weight: number;
  current: number;
}

/**
 * Returns the items in turn by their weights, evenly spread: with weights 3 and 1
 * the order is a a b a, not a a a b. Never returns items without a positive weight; returns `undefined` if there are no others.
 *
 * @example
 * const next = createRoundRobin(upstream.endpoints);
 * const endpoint = next();
 */
export function createRoundRobin<T extends { readonly weight: number }>(items: readonly T[]): () => T | undefined {
  const turns: Turn<T>[] = items
    .filter(({ weight }) => weight > 0)
    .map((item) => ({ item, weight: item.weight, current: 0 }));
  if (turns.length < 2) return () => turns[0]?.item;
  const total = turns.reduce((sum, turn) => sum + turn.weight, 0);
  return () => {
    let best = turns[0]!;
    for (const turn of turns) {
      turn.current += turn.weight;
      if (turn.current > best.current) best = turn;
    }
    best.current -= total;
    return best.item;
  };
}

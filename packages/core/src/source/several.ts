import type { Source, WrittenResource } from './source.ts';

/**
 * Returns a source with the resources of several sources; their units must have different names. It is started when all of them are.
 *
 * @example
 * const source = severalSources([directorySource('resources'), memorySource({ generated })]);
 */
export function severalSources(sources: readonly Source[]): Source {
  let isClosed = false;
  return {
    name: sources.map(({ name }) => name).join('+'),
    platform: sources.find(({ platform }) => platform)?.platform,
    kinds: sources.every(({ kinds }) => kinds) ? new Set(sources.flatMap(({ kinds }) => [...kinds!])) : undefined,
    async start(onChange) {
      // The listeners outlive the start: they must not keep the documents of the first listing in memory.
      let first: Map<string, readonly WrittenResource[]> | undefined = new Map();
      await Promise.all(
        sources.map((source) =>
          source.start((change) => {
            if (!first) onChange(change);
            else for (const [unit, written] of change) first.set(unit, written);
          }),
        ),
      );
      const listed = first;
      first = undefined;
      if (!isClosed) onChange(listed);
    },
    refreshEvery(ms) {
      for (const source of sources) source.refreshEvery?.(ms);
    },
    async close() {
      isClosed = true;
      await Promise.all(sources.map((source) => source.close()));
    },
  };
}

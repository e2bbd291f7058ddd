import type { Source, SourceChange } from './source.ts';

/** Combines sources; their units must have different names. It is started when all of them are. */
export function severalSources(sources: readonly Source[]): Source {
  return {
    name: sources.map(({ name }) => name).join('+'),
    async start(onChange) {
      const first = new Map<string, SourceChange extends ReadonlyMap<string, infer Written> ? Written : never>();
      let started = false;
      await Promise.all(
        sources.map((source) =>
          source.start((change) => {
            if (started) onChange(change);
            else for (const [unit, written] of change) first.set(unit, written);
          }),
        ),
      );
      started = true;
      onChange(first);
    },
    async close() {
      await Promise.all(sources.map((source) => source.close()));
    },
  };
}

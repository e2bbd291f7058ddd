import { parseDocuments } from '../parse/parse.ts';
import type { Source, SourceChange, WrittenResource } from './source.ts';
import { writtenObjects } from './written-object.ts';

/** A source that the program fills. */
export interface MemorySource extends Source {
  /**
   * Replaces the resources of a unit: one object, a list of them, or YAML or JSON text. They are delivered before
   * the call returns, once the source has started. Their origin is `memory:<unit>`; text also has lines and columns.
   */
  set(unit: string, resources: unknown): void;
  /** Removes all resources of the unit. */
  delete(unit: string): void;
}

/**
 * Creates a source in memory. `initial` contains the first resources by unit.
 *
 * @example
 * const source = memorySource({ upstreams: { apiVersion: 'gw.vendor.io/v1', kind: 'Upstream', metadata: { name: 'a' } } });
 * source.set('more', 'apiVersion: gw.vendor.io/v1\nkind: Upstream\nmetadata: {name: b}\n');
 */
export function memorySource(initial: Readonly<Record<string, unknown>> = {}): MemorySource {
  const units = new Map<string, readonly WrittenResource[]>();
  let deliver: ((change: SourceChange) => void) | undefined;

  function put(unit: string, written: readonly WrittenResource[]): void {
    if (written.length === 0) units.delete(unit);
    else units.set(unit, written);
    deliver?.(new Map([[unit, written]]));
  }

  const source: MemorySource = {
    name: 'memory',
    set: (unit, resources) => put(`memory:${unit}`, writtenIn(`memory:${unit}`, resources)),
    delete: (unit) => put(`memory:${unit}`, []),
    async start(onChange) {
      deliver = onChange;
      onChange(new Map(units));
    },
    async close() {
      deliver = undefined;
    },
  };
  for (const [unit, resources] of Object.entries(initial)) source.set(unit, resources);
  return source;
}

function writtenIn(unit: string, resources: unknown): readonly WrittenResource[] {
  if (typeof resources === 'string') return parseDocuments(resources, unit);
  const list = Array.isArray(resources) ? resources : [resources];
  const origin = { file: unit, line: 1, column: 1 };
  return list.flatMap((resource) => writtenObjects({ unit, origin }, resource));
}

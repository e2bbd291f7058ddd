import { parseDocuments } from '../parse/parse.ts';
import type { Source, SourceChange, WrittenResource } from './source.ts';

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
      onChange(new Map(units));
      deliver = onChange;
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
  return list.flatMap((resource) => writtenFrom(unit, resource));
}

/** Objects are converted to JSON: values that a file cannot contain are rejected here as well. */
function writtenFrom(unit: string, resource: unknown): WrittenResource[] {
  const origin = { file: unit, line: 1, column: 1 };
  let text: string | undefined;
  let message = 'a value that JSON does not support';
  try {
    text = JSON.stringify(resource);
  } catch (error) {
    message = error instanceof TypeError ? 'a circular object, or a value that JSON does not support' : message;
  }
  if (text === undefined) {
    const issue = { code: 'NOT_AN_OBJECT', severity: 'error', origin, path: [], message } as const;
    return [{ unit, origin, value: undefined, issues: [issue], locate: () => origin }];
  }
  return parseDocuments(text, `${unit}.json`).map(({ value, issues }) => ({
    unit,
    origin,
    value,
    issues: issues.map((issue) => ({ ...issue, origin })),
    locate: () => origin,
  }));
}

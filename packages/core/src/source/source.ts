import type { FieldPath, Problem } from '../resource/problem.ts';
import type { TextPlace } from '../parse/text-place.ts';
import type { Origin } from '../resource/resource.ts';

/**
 * One document as somebody wrote it, before any schema is applied.
 * `issues` are those of reading it (YAML syntax, duplicate keys, size); with any of severity `error` there is no `value`.
 */
export interface WrittenResource {
  /** What it came from, and is replaced with as a whole: a file's path, or a name in memory. */
  readonly unit: string;
  readonly origin: Origin;
  readonly value: unknown;
  readonly issues: readonly Problem[];
  /**
   * Place of a field: of its key, with `on: 'value'` of what is written behind it, with a place of what is there in its text, where
   * that can be told. Missing steps give the nearest parent.
   */
  locate(path: FieldPath, on?: 'key' | 'value' | TextPlace): Origin;
}

/** What each changed unit holds now; an empty list says that the unit is gone. */
export type SourceChange = ReadonlyMap<string, readonly WrittenResource[]>;

/**
 * Where resources come from. `start` resolves when the first complete listing was handed over; after that each change
 * is handed over once it is settled (debounced, no half-written file). Problems of the source itself (a folder that
 * vanishes) are logged and waited out, never thrown after `start`.
 */
export interface Source {
  readonly name: string;
  start(onChange: (change: SourceChange) => void): Promise<void>;
  close(): Promise<void>;
}

import type { FieldPath, Problem } from '../resource/problem.ts';
import type { TextPlace } from '../parse/text-place.ts';
import type { Kind, Origin } from '../resource/resource.ts';

/**
 * One document as written, before any schema is applied.
 * `issues` are those of parsing it (YAML syntax, duplicate keys, size); with any of severity `error` there is no `value`.
 */
export interface WrittenResource {
  /** Its unit, which is replaced as a whole: the path of a file, or a name in memory. */
  readonly unit: string;
  readonly origin: Origin;
  readonly value: unknown;
  readonly issues: readonly Problem[];
  /**
   * Returns the position of a field: of its key; with `on: 'value'` of its value; with a text position, the position inside its text, if
   * known. Falls back to the nearest parent.
   */
  locate(path: FieldPath, on?: 'key' | 'value' | TextPlace): Origin;
}

/** The new content of each changed unit; an empty list means that the unit was removed. */
export type SourceChange = ReadonlyMap<string, readonly WrittenResource[]>;

/**
 * A source of resources. `start` resolves after the first complete listing was delivered; after that each change
 * is delivered once it is stable (debounced, no half-written file). Problems of the source itself (a folder that
 * disappears) are logged until they end, never thrown after `start`.
 */
export interface Source {
  readonly name: string;
  /**
   * Kubernetes: it reads only the namespaces that the Settings watch, and fields for Kubernetes have an effect. Default: none; the control plane leaves
   * other namespaces out.
   */
  readonly platform?: 'kubernetes' | undefined;
  /** The kinds that it reads: a reference to a resource of another kind is no problem. Default: all. */
  readonly kinds?: ReadonlySet<Kind> | undefined;
  start(onChange: (change: SourceChange) => void): Promise<void>;
  /** Sets the maximum time between two complete reads of a source that may miss changes, in milliseconds. */
  refreshEvery?(ms: number): void;
  close(): Promise<void>;
}

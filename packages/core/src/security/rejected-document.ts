import { MAX_PROBLEMS, type FieldPath, type Problem } from '../resource/problem.ts';
import type { SchemaCode } from '../resource/problem-codes.ts';
import { redact, redactAll } from './redact.ts';

/** Problems of a value without a known position in the schema, which may be secret. */
const UNPLACED: ReadonlySet<string> = new Set<SchemaCode>(['UNKNOWN_KEY', 'MISPLACED_KEY', 'WRONG_TYPE', 'BAD_KEY']);
/** Members of a Secret that are not values. */
const SHOWN_OF_SECRET: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'type']);

/**
 * Returns a rejected document without secret values: those that `redact` removes, and values that the schema does not
 * describe, because a secret may be written under a wrong name. With more problems than are reported, all values are removed. Returns
 * `undefined` if it is not an object.
 */
export function redactRejected(document: unknown, issues: readonly Problem[]): object | undefined {
  if (typeof document !== 'object' || document === null) return undefined;
  const isSecret = 'kind' in document && document.kind === 'Secret';
  const shown = isSecret || issues.length >= MAX_PROBLEMS ? redactSecret(document) : redact(document);
  const paths = issues.filter(({ code }) => UNPLACED.has(code)).map(({ path }) => path);
  return paths.length === 0 ? shown : redactPlaces(shown, placesOf(paths));
}

function redactSecret(document: object): object {
  const shown = Object.entries(document).map(([key, value]) => {
    if (SHOWN_OF_SECRET.has(key)) return [key, value];
    if (key !== 'metadata') return [key, redactAll(value)];
    const { name, namespace } = (value ?? {}) as { name?: unknown; namespace?: unknown };
    return [key, { name, ...(namespace !== undefined && { namespace }) }];
  });
  return Object.fromEntries(shown);
}

/** The steps to values to redact; without steps, the value itself. */
type Places = ReadonlyMap<string | number, Places>;

function placesOf(paths: readonly FieldPath[], depth = 0): Places {
  // A path that ends here includes what is below.
  if (paths.some(({ length }) => length === depth)) return new Map();
  const steps = Map.groupBy(paths, (path) => path[depth]!);
  return new Map(Array.from(steps, ([step, below]) => [step, placesOf(below, depth + 1)]));
}

/** Redacts the values at the places that exist. */
function redactPlaces<T>(value: T, places: Places): T {
  if (places.size === 0) return redactAll(value) as T;
  if (typeof value !== 'object' || value === null) return value;
  const shown = (Array.isArray(value) ? [...value] : { ...value }) as Record<string | number, unknown>;
  for (const [step, below] of places) {
    if (Object.hasOwn(shown, step)) shown[step] = redactPlaces(shown[step], below);
  }
  return shown as T;
}

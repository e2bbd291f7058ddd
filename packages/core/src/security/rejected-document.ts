import type { FieldPath, Problem } from '../resource/problem.ts';
import type { SchemaCode } from '../resource/problem-codes.ts';
import { redact, redactAll } from './redact.ts';

/** Problems of a value without a known position in the schema, which may be secret. */
const UNPLACED: ReadonlySet<string> = new Set<SchemaCode>(['UNKNOWN_KEY', 'MISPLACED_KEY', 'WRONG_TYPE', 'BAD_KEY']);
/** Members of a Secret that are not values. */
const SHOWN_OF_SECRET: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'type']);

/**
 * Returns a rejected document without secret values: those that `redact` removes, and values that the schema does not
 * describe, because a secret may be written under a wrong name. Returns `undefined` if it is not an object.
 */
export function redactRejected(document: unknown, issues: readonly Problem[]): object | undefined {
  if (typeof document !== 'object' || document === null) return undefined;
  const shown = 'kind' in document && document.kind === 'Secret' ? redactSecret(document) : redact(document);
  return issues.filter(({ code }) => UNPLACED.has(code)).reduce((rest, { path }) => redactAt(rest, path), shown);
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

/** Redacts the value at a path, if there is one. */
function redactAt<T>(value: T, [step, ...rest]: FieldPath): T {
  if (step === undefined) return redactAll(value) as T;
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return value;
  const inner = redactAt((value as Record<string | number, unknown>)[step], rest);
  if (Array.isArray(value)) return value.with(Number(step), inner) as T;
  return { ...value, [step]: inner };
}

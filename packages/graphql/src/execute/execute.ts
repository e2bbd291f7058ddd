import { getArgumentValues } from 'graphql';
import type { FieldPlan, Selection } from './plan.ts';
import { Located, note, nothing, type Path, type Run } from './run.ts';

/** Where an object stands whose fields are completed. */
interface ObjectPlace {
  readonly path: Path | undefined;
  readonly run: Run;
}

/**
 * The fields of one object, all at once. Gives the object, or a promise of it where a field has to wait. Throws or rejects with
 * `Located` where a field that must have a value has none.
 */
export function completeFields(selection: Selection, source: object, { path, run }: ObjectPlace): unknown {
  const out: Record<string, unknown> = {};
  let waiting: Promise<void>[] | undefined;
  try {
    for (const field of selection) {
      const value = fieldValue(field, source, { path, run });
      if (value instanceof Promise) {
        put(out, field, undefined);
        (waiting ??= []).push(value.then((done) => put(out, field, done)));
      } else {
        put(out, field, value);
      }
    }
  } catch (error) {
    // The others are of no use any more; what they reject with is told to nobody.
    for (const each of waiting ?? []) each.catch(() => {});
    throw error;
  }
  return waiting ? Promise.all(waiting).then(() => out) : out;
}

/** The same, one field after the other, as the fields of a mutation are run. */
export async function completeSerially(selection: Selection, source: object, { run }: ObjectPlace): Promise<unknown> {
  const out: Record<string, unknown> = {};
  for (const field of selection) {
    put(out, field, await fieldValue(field, source, { path: undefined, run }));
    run.calls.forget();
  }
  return out;
}

function put(out: Record<string, unknown>, { key, odd }: FieldPlan, value: unknown): void {
  if (odd) Object.defineProperty(out, key, { value, enumerable: true, writable: true, configurable: true });
  else out[key] = value;
}

function fieldValue(field: FieldPlan, source: object, place: ObjectPlace): unknown {
  let value: unknown;
  try {
    if (!field.resolve) value = read(field, source);
    else value = field.resolve(source, field.args ?? argsOf(field, place.run), place.run);
  } catch (error) {
    return failed(error, field, place);
  }
  if (!(value instanceof Promise)) return finish(value, field, place);
  return value.then(
    (done: unknown) => finish(done, field, place),
    (error: unknown) => failed(error, field, place),
  );
}

function read({ name, odd }: FieldPlan, source: object): unknown {
  if (odd && !Object.hasOwn(source, name)) return undefined;
  return (source as Readonly<Record<string, unknown>>)[name];
}

function argsOf({ definition, node }: FieldPlan, run: Run): Readonly<Record<string, unknown>> {
  return getArgumentValues(definition, node, run.variables, undefined, true);
}

function finish(value: unknown, field: FieldPlan, place: ObjectPlace): unknown {
  try {
    const { run } = place;
    const path = field.leaf ? undefined : { before: place.path, key: field.key };
    const done = field.complete(value, { field, path: path ?? place.path, run });
    if (!(done instanceof Promise)) return present(done, field, place);
    return done.then(
      (settled: unknown) => present(settled, field, place),
      (error: unknown) => failed(error, field, place),
    );
  } catch (error) {
    return failed(error, field, place);
  }
}

function present(value: unknown, field: FieldPlan, { path }: ObjectPlace): unknown {
  if (value === null && !field.nullable) throw new Located(nothing(field), { before: path, key: field.key }, field);
  return value;
}

/** Where the field may be null the error stops here; else it goes on to its parent. */
function failed(error: unknown, field: FieldPlan, { path, run }: ObjectPlace): null {
  const located = error instanceof Located ? error : new Located(error, { before: path, key: field.key }, field);
  if (!field.nullable) throw located;
  note(run, located);
  return null;
}

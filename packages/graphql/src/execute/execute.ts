import { getArgumentValues } from 'graphql';
import { Located, note, nonNullViolation, pathTo } from './errors.ts';
import type { FieldPlan, Place, Run, Selection } from './field-plan.ts';
import { ignoreRejections } from './ignore-rejections.ts';
import { ExecutionStopped } from './result-size.ts';
import { countField } from './turns.ts';

/** Completes the fields of an object concurrently. Throws or rejects with `Located` if a non-null field has no value. */
export function completeFields(selection: Selection, source: unknown, place: Place): unknown {
  const out: Record<string, unknown> = {};
  let unfinished: Unfinished | undefined;
  try {
    for (const field of selection) {
      let value = begin(field, source, place);
      if (value instanceof Promise) {
        (unfinished ??= new Unfinished(out, place)).wait(field, value);
        continue;
      }
      value = finish(value, field, place);
      if (value instanceof Promise) (unfinished ??= new Unfinished(out, place)).waitFinished(field, value);
      else put(out, field, value);
    }
  } catch (error) {
    // The other fields are no longer needed: their rejections are ignored.
    unfinished?.promise.catch(() => {});
    if (place.run.plan.values === 'any') ignoreRejections(source);
    throw error;
  }
  return unfinished ? unfinished.promise : out;
}

/** Completes the fields of an object one after the other, as a mutation requires. */
export async function completeSerially(selection: Selection, source: unknown, place: Place): Promise<unknown> {
  const out: Record<string, unknown> = {};
  for (const field of selection) {
    const begun = begin(field, source, place);
    const value =
      begun instanceof Promise
        ? begun.then(
            (given: unknown) => finish(given, field, place),
            (error: unknown) => failed(error, field, place),
          )
        : finish(begun, field, place);
    put(out, field, await value);
    place.run.options.afterField?.();
  }
  return out;
}

/** An object with asynchronous fields: one promise for all of them, because each would cost several. */
class Unfinished {
  readonly promise: Promise<unknown>;
  readonly #out: Record<string, unknown>;
  readonly #place: Place;
  #left = 0;
  #resolve!: (out: unknown) => void;
  #reject!: (error: unknown) => void;

  constructor(out: Record<string, unknown>, place: Place) {
    this.#out = out;
    this.#place = place;
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** Waits for the value of a resolver. */
  wait(field: FieldPlan, given: Promise<unknown>): void {
    this.#hold(field);
    given.then(
      (value) => this.#take(finish, value, field),
      (error: unknown) => this.#take(failed, error, field),
    );
  }

  /** Waits for a completed value. */
  waitFinished(field: FieldPlan, value: Promise<unknown>): void {
    this.#hold(field);
    value.then((done) => this.#put(field, done), this.#reject);
  }

  /** Reserves the position of a field among the others. */
  #hold(field: FieldPlan): void {
    this.#left++;
    put(this.#out, field, undefined);
  }

  #take(end: typeof finish, given: unknown, field: FieldPlan): void {
    try {
      const value = end(given, field, this.#place);
      if (value instanceof Promise) value.then((done) => this.#put(field, done), this.#reject);
      else this.#put(field, value);
    } catch (error) {
      this.#reject(error);
    }
  }

  #put(field: FieldPlan, value: unknown): void {
    put(this.#out, field, value);
    if (--this.#left === 0) this.#resolve(this.#out);
  }
}

function put(out: Record<string, unknown>, { key, shadowsPrototype }: FieldPlan, value: unknown): void {
  if (shadowsPrototype)
    Object.defineProperty(out, key, { value, enumerable: true, writable: true, configurable: true });
  else out[key] = value;
}

/** Returns the value of the resolver of a field, or of the key of its parent. */
function begin(field: FieldPlan, source: unknown, place: Place): unknown {
  place.run.size.add(1, field.bytes);
  countField();
  if (!field.resolve) return read(field, source);
  try {
    return field.resolve(source, field.args ?? argsOf(field, place.run), place, field);
  } catch (error) {
    return failed(error, field, place);
  }
}

function read({ name, shadowsPrototype }: FieldPlan, source: unknown): unknown {
  if (shadowsPrototype && !Object.hasOwn(source as object, name)) return undefined;
  return (source as Readonly<Record<string, unknown>>)[name];
}

function argsOf({ definition, nodes }: FieldPlan, run: Run): Readonly<Record<string, unknown>> {
  return getArgumentValues(definition, nodes[0]!, run.variables, undefined, true);
}

/** Completes the value of a field. */
function finish(given: unknown, field: FieldPlan, place: Place): unknown {
  try {
    const inner = field.leaf ? place : { path: pathTo(field, place.path), run: place.run };
    const done = field.complete(given, field, inner);
    if (!(done instanceof Promise)) return present(done, field, place);
    return done.then(
      (settled: unknown) => present(settled, field, place),
      (error: unknown) => failed(error, field, place),
    );
  } catch (error) {
    if (place.run.plan.values === 'any') ignoreRejections(given);
    return failed(error, field, place);
  }
}

function present(value: unknown, field: FieldPlan, place: Place): unknown {
  if (typeof value === 'string') place.run.size.add(0, value.length);
  if (value === null && !field.nullable)
    throw new Located(nonNullViolation(field.parentType.name, field.name), pathTo(field, place.path), field);
  return value;
}

/** Reports an error if the field is nullable, else passes it to the parent. */
function failed(error: unknown, field: FieldPlan, place: Place): null {
  if (error instanceof ExecutionStopped) throw error;
  const located = error instanceof Located ? error : new Located(error, pathTo(field, place.path), field);
  if (!field.nullable) throw located;
  note(place.run, located);
  return null;
}

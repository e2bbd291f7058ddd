import type { FieldPath } from '../../resource/problem.ts';
import { hoistIntoOptions } from './hoist-into-options.ts';
import { blockProblems } from './block-problems.ts';
import { INT64_TEXT, type SchemaNode, type ValueProblem } from '../../schema/field.ts';
import { fittingNode, nodeOf, type Node, type ObjectNode, type ScalarNode } from './node.ts';
import { isObject } from '../resource-identity.ts';
import type { DocumentReport, WrittenProblem } from '../document-report.ts';
import { scalarProblems } from './scalar-problems.ts';
import { unknownKey } from './unknown-key.ts';
import { eitherProblem, enumProblem, typeProblem, valueProblem } from './wrong-value.ts';

type Json = Record<string, unknown>;
type Step = string | number;

/** A field that was renamed to camelCase, or moved into `options`. */
export interface Move {
  readonly now: FieldPath;
  readonly written: FieldPath;
}

/** A content in its normal form, and its renamed fields. */
export interface Content {
  readonly spec: unknown;
  readonly moves: readonly Move[];
}

/** Returns the original path of a field. */
export function writtenPath(moves: readonly Move[], now: FieldPath): FieldPath {
  const move = moves.findLast((each) => each.now.length <= now.length && each.now.every((step, i) => step === now[i]));
  return move ? [...move.written, ...now.slice(move.now.length)] : now;
}

/**
 * Walks the content at `at` along its schema once: returns a frozen copy with enums by name and keys in camelCase, and
 * reports everything that does not match the schema.
 */
export function normalise(
  schema: SchemaNode,
  { written, at }: { readonly written: unknown; readonly at: FieldPath },
  report: DocumentReport,
): Content {
  const walk = new Walk(report, at);
  return { spec: walk.value(nodeOf(schema), written), moves: walk.moves };
}

class Walk {
  readonly moves: Move[] = [];
  readonly #report: DocumentReport;
  readonly #at: FieldPath;
  /** The path of the current value. Modified during the walk, like `#written`: a copy for each value would cost more than the rest. */
  readonly #now: Step[];
  #written: Step[];
  /** The nodes from the root to the current value. */
  readonly #nodes: Node[] = [];
  /** True below an unsupported field, so that only the field itself is reported. */
  #unsupported = false;
  /** `options` that were built from keys beside them, with these keys. */
  readonly #folded = new Map<object, ReadonlyMap<string, string>>();

  constructor(report: DocumentReport, at: FieldPath) {
    this.#report = report;
    this.#at = at;
    this.#now = [...at];
    this.#written = [...at];
  }

  /** Returns a value in its normal form; one of another type unchanged. */
  value(node: Node, value: unknown): unknown {
    if (node.type === 'anything') return frozenCopy(value);
    if (node.type === 'scalar') return this.#scalar(node, value);
    if (node.type === 'enum') return this.#enum(node, value);
    if (node.type === 'either') return this.#either(node.nodes, value);
    if (node.type === 'value') return this.#value(node.problem, value);
    this.#nodes.push(node);
    const result = this.#container(node, value);
    this.#nodes.pop();
    return result;
  }

  #container(node: Extract<Node, { type: 'object' | 'map' | 'list' }>, value: unknown): unknown {
    if (node.type === 'list' && Array.isArray(value)) {
      return Object.freeze(value.map((item, i) => this.#inside(i, node.items, item)));
    }
    if (node.type === 'object' && isObject(value)) return this.#object(node, value);
    if (node.type === 'map' && isObject(value)) return this.#map(node.values, value);
    this.#problem(typeProblem(node.type === 'list' ? 'array' : 'object', value));
    return value;
  }

  #scalar(node: ScalarNode, written: unknown): unknown {
    const value = node.format === 'int64' ? numberOf(written) : written;
    for (const problem of scalarProblems(node, value)) this.#problem(problem);
    return value;
  }

  #either(nodes: readonly Node[], value: unknown): unknown {
    const problem = eitherProblem(nodes, value);
    if (problem) this.#problem(problem);
    return problem ? value : this.value(fittingNode(nodes, value), value);
  }

  #value(problemOf: ValueProblem, value: unknown): unknown {
    const problem = valueProblem(problemOf, value);
    if (problem) this.#problem(problem);
    return value;
  }

  #enum({ names }: Extract<Node, { type: 'enum' }>, value: unknown): unknown {
    const name = typeof value === 'number' ? (names[value] ?? value) : value;
    if (!names.includes(name as string)) this.#problem(enumProblem(name, names));
    return name;
  }

  #object(node: ObjectNode, given: Json): unknown {
    const written = withoutEmpty(node, given);
    const value = node.beside.length > 0 ? this.#fold(node, written) : written;
    const from = this.#folded.size > 0 ? this.#folded.get(value) : undefined;
    const out: Json = {};
    for (const key of Object.keys(value)) {
      const own = node.fields.get(key);
      const name = own ? key : (node.aliases.get(key) ?? key);
      const field = own ?? node.fields.get(name);
      if (key === '__proto__') this.#badKey(key);
      else if (!field) out[key] = this.#unknown(key, value[key]);
      else if (name !== key && Object.hasOwn(value, name)) this.#conflict(key, name);
      else out[name] = this.#field(field, name, { key, value: value[key], beside: from?.get(name) });
    }
    for (const { problem, field } of blockProblems(node, out)) this.#problem(problem, field);
    return Object.freeze(out);
  }

  #unknown(key: string, value: unknown): unknown {
    if (!this.#report.full) {
      this.#problem(unknownKey({ nodes: this.#nodes, at: this.#at }, this.#now.slice(this.#at.length), key), key);
    }
    // Not copied: the options of a program may have a cycle here.
    return value;
  }

  #fold(node: ObjectNode, value: Json): Json {
    const folded = hoistIntoOptions(node, value);
    if (!folded) return value;
    this.#folded.set(folded.options, folded.from);
    for (const key of folded.conflicts) this.#conflict(key, `options.${key}`);
    return folded.value;
  }

  #field(
    field: SchemaNode,
    name: string,
    { key, value, beside }: { key: string; value: unknown; beside?: string | undefined },
  ): unknown {
    const outside = this.#unsupported;
    const place = this.#written;
    const written = beside === undefined ? place : [...place.slice(0, -1), beside];
    if (beside === undefined) place.push(key);
    if (beside !== undefined || name !== key) this.moves.push({ now: [...this.#now, name], written: [...written] });
    const isSupported = (field['x-support'] ?? 'yes') === 'yes' || asksForDefault(field, value);
    if (!isSupported && !outside) this.#support(name, field, [...written]);
    this.#now.push(name);
    this.#written = written;
    const result = this.value(nodeOf(field), value);
    this.#now.pop();
    this.#written = place;
    if (beside === undefined) place.pop();
    this.#unsupported = outside;
    return result;
  }

  #support(name: string, { 'x-support': support, 'x-instead': hint }: SchemaNode, path: FieldPath): void {
    this.#unsupported = true;
    if (support === 'rejected') {
      const message = `${name} is a security field that is not supported yet, so the resource is rejected`;
      this.#report.add({ code: 'SECURITY_FIELD_NOT_SUPPORTED', path, message, hint });
    } else if (support === 'kubernetes') {
      const message = `${name} has an effect only with Kubernetes`;
      this.#report.add({ code: 'KUBERNETES_ONLY', path, message, hint, severity: 'warning' });
    } else {
      const isPlanned = support === 'notYet';
      const message = `${name} is not supported${isPlanned ? ' yet' : ''}`;
      const code = isPlanned ? 'NOT_SUPPORTED_YET' : 'NOT_SUPPORTED';
      this.#report.add({ code, path, message, hint, severity: 'warning' });
    }
  }

  #map(values: Node, value: Json): unknown {
    const out: Json = {};
    for (const key of Object.keys(value)) {
      if (key === '__proto__') this.#badKey(key);
      else if (!isEmpty(value[key], values)) out[key] = this.#inside(key, values, value[key]);
    }
    return Object.freeze(out);
  }

  #inside(step: Step, node: Node, value: unknown): unknown {
    this.#now.push(step);
    this.#written.push(step);
    const result = this.value(node, value);
    this.#now.pop();
    this.#written.pop();
    return result;
  }

  #conflict(key: string, other: string): void {
    this.#problem(
      { code: 'CONFLICTING_FIELDS', message: `${key} and ${other} have different values`, hint: `write ${other} only` },
      key,
    );
  }

  #badKey(key: string): void {
    this.#problem({ code: 'BAD_KEY', message: `${key} cannot be a key` }, key);
  }

  /** Reports at this place, or at a field of this block. */
  #problem(problem: Omit<WrittenProblem, 'path'>, child?: string): void {
    const path = child === undefined ? [...this.#written] : writtenPath(this.moves, [...this.#now, child]);
    this.#report.add({ ...problem, path });
  }
}

/** Returns true for an empty value, which counts as absent, as in Kubernetes; except in fields of any type, and values of a program. */
function isEmpty(value: unknown, node: Node): boolean {
  return value === null && node.type !== 'anything' && node.type !== 'value';
}

/** Returns the block without its empty fields, and without those that a program has set to `undefined`. */
function withoutEmpty(node: ObjectNode, value: Json): Json {
  const isAbsent = (key: string): boolean => {
    if (value[key] === undefined) return true;
    const field = value[key] === null ? node.fields.get(node.aliases.get(key) ?? key) : undefined;
    return field !== undefined && isEmpty(null, nodeOf(field));
  };
  const keys = Object.keys(value);
  return keys.some(isAbsent)
    ? Object.fromEntries(keys.filter((key) => !isAbsent(key)).map((key) => [key, value[key]]))
    : value;
}

/** Returns the number of decimal text; any other value unchanged. */
function numberOf(written: unknown): unknown {
  // `-0` is 0.
  return typeof written === 'string' && INT64_TEXT.test(written) ? Number(written) + 0 : written;
}

/** Returns true for a value that an unsupported field has anyway. */
export function asksForDefault(field: SchemaNode, value: unknown): boolean {
  return typeof value !== 'object' && field.default !== undefined && value === field.default;
}

function frozenCopy(value: unknown): unknown {
  if (Array.isArray(value)) return Object.freeze(value.map(frozenCopy));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).filter(([key]) => key !== '__proto__');
  return Object.freeze(Object.fromEntries(entries.map(([key, item]) => [key, frozenCopy(item)])));
}

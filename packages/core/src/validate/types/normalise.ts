import { parseDuration } from '../../syntax/duration.ts';
import type { FieldPath } from '../../resource/problem.ts';
import { RegexError, compileRegex, readSubstitution } from '../../syntax/regex.ts';
import { foldBeside } from './beside.ts';
import type { FieldNode, Node, ObjectNode } from './node.ts';
import type { DocumentReport, WrittenProblem } from '../document-report.ts';

type Json = Record<string, unknown>;
type Step = string | number;

/** A field that was renamed to camelCase, or moved into `options`. */
export interface Move {
  readonly now: FieldPath;
  readonly written: FieldPath;
}

/** Returns the original path of a field. */
export function writtenPath(moves: readonly Move[], now: FieldPath): FieldPath {
  const move = moves.findLast((each) => each.now.length <= now.length && each.now.every((step, i) => step === now[i]));
  return move ? [...move.written, ...now.slice(move.now.length)] : now;
}

/**
 * Walks a value along its schema once: returns a frozen copy with enums by name and keys in camelCase, and reports what
 * is checked by name (one-ofs, required fields, durations, expressions, support). The schema checks types.
 */
export class Normaliser {
  readonly moves: Move[] = [];
  readonly #report: DocumentReport;
  #now: Step[];
  #written: Step[];
  /** True below an unsupported field, so that only the field itself is reported. */
  #unsupported = false;
  /** `options` that were built from keys beside them, with these keys. */
  readonly #folded = new Map<object, ReadonlyMap<string, string>>();

  constructor(report: DocumentReport, at: FieldPath) {
    this.#report = report;
    this.#now = [...at];
    this.#written = [...at];
  }

  walk(node: Node, value: unknown): unknown {
    if (node.type === 'object') return isObject(value) ? this.#object(node, value) : value;
    if (node.type === 'map') return isObject(value) ? this.#map(node.values, value) : value;
    if (node.type === 'list') return Array.isArray(value) ? this.#list(node.items, value) : value;
    if (node.type === 'enum') return typeof value === 'number' ? (node.names[value - node.first] ?? value) : value;
    if (node.type === 'anything') return frozenCopy(value);
    if (typeof value !== 'string') return value;
    if (node.type === 'duration') this.#duration(value);
    if (node.type === 'regex') this.#regex(value);
    return value;
  }

  #object(node: ObjectNode, given: Json): unknown {
    const written = withoutEmpty(node, given);
    const value = node.beside.length > 0 ? this.#fold(node, written) : written;
    const from = this.#folded.get(value);
    const out: Json = {};
    for (const key of Object.keys(value)) {
      const name = node.aliases.get(key) ?? key;
      const field = node.fields.get(name);
      if (key === '__proto__') this.#badKey(key);
      else if (!field) out[key] = frozenCopy(value[key]);
      else if (name !== key && Object.hasOwn(value, name)) this.#conflict(key, name);
      else out[name] = this.#field(field, name, { key, value: value[key], beside: from?.get(name) });
    }
    this.#checkBlock(node, out);
    return Object.freeze(out);
  }

  #fold(node: ObjectNode, value: Json): Json {
    const folded = foldBeside(node, value);
    if (!folded) return value;
    this.#folded.set(folded.options, folded.from);
    for (const key of folded.conflicts) this.#conflict(key, `options.${key}`);
    return folded.value;
  }

  #field(
    field: FieldNode,
    name: string,
    written: { key: string; value: unknown; beside?: string | undefined },
  ): unknown {
    const [now, place, outside] = [this.#now, this.#written, this.#unsupported];
    this.#now = [...now, name];
    this.#written = written.beside === undefined ? [...place, written.key] : [...place.slice(0, -1), written.beside];
    if (written.beside !== undefined || name !== written.key)
      this.moves.push({ now: this.#now, written: this.#written });
    if (field.support !== 'yes' && !outside && !asksForDefault(field, written.value)) this.#support(name, field);
    const result = this.walk(field.node(), written.value);
    this.#now = now;
    this.#written = place;
    this.#unsupported = outside;
    return result;
  }

  #support(name: string, { support, instead: hint }: FieldNode): void {
    this.#unsupported = true;
    if (support === 'refused') {
      const message = `${name} is a security field that is not supported yet, so the resource is rejected`;
      this.#problem({ code: 'SECURITY_FIELD_NOT_SUPPORTED', message, hint });
    } else {
      const message = `${name} is not supported yet`;
      this.#problem({ code: 'NOT_SUPPORTED_YET', message, hint, severity: 'warning' });
    }
  }

  #map(values: Node, value: Json): unknown {
    const out: Json = {};
    for (const key of Object.keys(value)) {
      if (key === '__proto__') this.#badKey(key);
      else if (!isEmpty(value[key], values)) out[key] = this.#step(values, key, value[key]);
    }
    return Object.freeze(out);
  }

  #list(items: Node, value: readonly unknown[]): unknown {
    return Object.freeze(value.map((item, i) => this.#step(items, i, item)));
  }

  #step(node: Node, step: Step, value: unknown): unknown {
    const [now, place] = [this.#now, this.#written];
    this.#now = [...now, step];
    this.#written = [...place, step];
    const result = this.walk(node, value);
    this.#now = now;
    this.#written = place;
    return result;
  }

  #checkBlock(node: ObjectNode, out: Json): void {
    for (const { members, required, message } of node.oneOf) {
      const set = members.filter((member) => out[member] !== undefined);
      for (const member of set.slice(1)) {
        const hint = `only one of ${members.join(', ')}`;
        this.#problem(
          { code: 'ONEOF_CONFLICT', message: `${member} cannot be set together with ${set[0]}`, hint },
          member,
        );
      }
      if (!required || set.length > 0) continue;
      const hint = `one of ${members.join(', ')}`;
      this.#problem({ code: 'ONEOF_MISSING', message: message ?? 'one field is missing', hint });
    }
    for (const name of node.required) {
      if (out[name] === undefined) this.#problem({ code: 'MISSING_FIELD', message: `${name} is missing` });
    }
    if (node.title === 'RegexRewrite') this.#substitution(out);
  }

  #duration(value: string): void {
    try {
      parseDuration(value);
    } catch (error) {
      const hint = 'for example 5s, 0.25s, 500ms, 1h30m';
      this.#problem({ code: 'BAD_DURATION', message: (error as Error).message, hint, on: 'value' });
    }
  }

  #regex(value: string): void {
    const problem = regexProblem(value);
    if (problem) this.#problem({ code: 'BAD_REGEX', message: problem, on: 'value' });
  }

  #substitution({ pattern, substitution }: Json): void {
    const regex = isObject(pattern) ? pattern['regex'] : undefined;
    if (typeof regex !== 'string' || typeof substitution !== 'string' || regexProblem(regex)) return;
    const groups = compileRegex(regex).groupCount;
    const wrong = readSubstitution(substitution).find((part) => typeof part === 'number' && part > groups);
    if (wrong === undefined) return;
    const message = `\\${wrong} refers to a group that the expression does not have`;
    this.#problem({ code: 'BAD_SUBSTITUTION', message, hint: `it has ${groups}`, on: 'value' }, 'substitution');
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
    const path = child === undefined ? this.#written : writtenPath(this.moves, [...this.#now, child]);
    this.#report.add({ ...problem, path });
  }
}

/** Returns true for an empty value, which counts as absent, as in Kubernetes; except in fields of any type. */
function isEmpty(value: unknown, node: Node): boolean {
  return value === null && node.type !== 'anything';
}

/** Returns the block without its empty fields. */
function withoutEmpty(node: ObjectNode, value: Json): Json {
  const isAbsent = (key: string): boolean => {
    const field = value[key] === null ? node.fields.get(node.aliases.get(key) ?? key) : undefined;
    return field !== undefined && isEmpty(null, field.node());
  };
  const keys = Object.keys(value);
  return keys.some(isAbsent)
    ? Object.fromEntries(keys.filter((key) => !isAbsent(key)).map((key) => [key, value[key]]))
    : value;
}

function asksForDefault(field: FieldNode, value: unknown): boolean {
  return typeof value !== 'object' && field.default !== undefined && value === field.default;
}

function regexProblem(pattern: string): string | undefined {
  try {
    compileRegex(pattern);
    return undefined;
  } catch (error) {
    if (!(error instanceof RegexError)) throw error;
    return `not a valid RE2 expression: ${error.message}, at offset ${error.offset}`;
  }
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function frozenCopy(value: unknown): unknown {
  if (Array.isArray(value)) return Object.freeze(value.map(frozenCopy));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).filter(([key]) => key !== '__proto__');
  return Object.freeze(Object.fromEntries(entries.map(([key, item]) => [key, frozenCopy(item)])));
}

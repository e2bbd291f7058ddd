import { parseDuration } from '@edge-gateway/core';
import protobuf, { type Field, type Type } from 'protobufjs';

/** Returns what is wrong with the value of a field, in the JSON form; `undefined` if nothing is. */
export type FieldCheck = (value: unknown) => string | undefined;

/** The rules of a message, by which Envoy rejects it. */
export interface MessageRules {
  /** By the name of the field. */
  readonly fields: ReadonlyMap<string, FieldCheck>;
  /** Returns what is missing. */
  missing(names: ReadonlySet<string>): string | undefined;
}

type Rules = Readonly<Record<string, unknown>>;

const NOTHING: FieldCheck = () => undefined;

/**
 * Reads the rules in the definition of a message (`validate.rules`). Envoy rejects a whole listener or route configuration for one value that
 * violates them, and then keeps its last configuration.
 */
export function rulesOf(type: Type): MessageRules {
  const fields = new Map<string, FieldCheck>();
  const needed: ((names: ReadonlySet<string>) => string | undefined)[] = [];
  for (const field of type.fieldsArray) {
    const rules = rulesIn(field);
    if (!rules) continue;
    fields.set(field.name, checkOf(rules));
    if (!field.partOf && isNeeded(field, rules))
      needed.push((names) => (names.has(field.name) ? undefined : `${field.name} is missing`));
  }
  for (const { name, oneof, options } of type.oneofsArray) {
    if (options?.['(validate.required)'] !== true) continue;
    const one = oneof.join(' or ');
    needed.push((names) => (oneof.some((each) => names.has(each)) ? undefined : `${name} is missing: ${one}`));
  }
  return {
    fields,
    missing(names) {
      for (const check of needed) {
        const problem = check(names);
        if (problem !== undefined) return problem;
      }
      return undefined;
    },
  };
}

/** The options as they are written; the type of the library is another one. */
function rulesIn({ parsedOptions }: Field): Rules | undefined {
  const all = (parsedOptions ?? []) as unknown as readonly Record<string, Rules | undefined>[];
  return all.find((each) => '(validate.rules)' in each)?.['(validate.rules)'];
}

/** True if a field without a value violates its rules: it counts as empty. */
function isNeeded(field: Field, rules: Rules): boolean {
  const { message, any, duration, repeated, map } = rules as Readonly<Record<string, Rules | undefined>>;
  if (message?.['required'] || any?.['required'] || duration?.['required']) return true;
  if (repeated) return Number(repeated['min_items'] ?? 0) > 0;
  if (map) return Number(map['min_pairs'] ?? 0) > 0;
  // Messages around numbers and texts may be missing.
  if (field.resolvedType instanceof protobuf.Type) return false;
  const empty = rules['string'] ? '' : 0;
  return field.resolvedType === null && checkOf(rules)(empty) !== undefined;
}

function checkOf(rules: Rules): FieldCheck {
  for (const [kind, create] of Object.entries(CHECKS)) {
    const own = rules[kind] as Rules | undefined;
    if (own) return create(own);
  }
  return NOTHING;
}

const CHECKS: Readonly<Record<string, (rules: Rules) => FieldCheck>> = {
  string: textCheck,
  uint32: numberCheck,
  uint64: numberCheck,
  int32: numberCheck,
  double: numberCheck,
  float: numberCheck,
  duration: durationCheck,
  repeated: listCheck,
  map: mapCheck,
};

/** What Envoy accepts as the name or value of a header, by `strict`. */
const HEADERS: Readonly<Record<string, { readonly strict: RegExp; readonly other: RegExp }>> = {
  HTTP_HEADER_NAME: { strict: /^:?[\w!#$%&'*+.^|~`-]+$/, other: /^[^\0\n\r]+$/ },
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  HTTP_HEADER_VALUE: { strict: /^[^\0-\x08\n-\x1f\x7f]*$/, other: /^[^\0\n\r]*$/ },
};

function textCheck(rules: Rules): FieldCheck {
  const { min_len: least = 0, max_bytes: most = Infinity, in: allowed, pattern, ignore_empty: ignoresEmpty } = rules;
  const header = HEADERS[String(rules['well_known_regex'])];
  const form = header && (rules['strict'] === false ? header.other : header.strict);
  const expression = typeof pattern === 'string' ? new RegExp(pattern, 'u') : undefined;
  const values = allowed === undefined ? undefined : new Set([allowed].flat());
  // Values of headers may be credentials, and problems are public.
  const shown = (text: string) => (rules['well_known_regex'] === 'HTTP_HEADER_VALUE' ? 'the value' : `'${text}'`);
  return (value) => {
    if (typeof value !== 'string' || (ignoresEmpty && value === '')) return undefined;
    if ([...value].length < Number(least)) return `'${value}' is too short: at least ${String(least)} characters`;
    if (Buffer.byteLength(value) > Number(most)) return `a text is too long: at most ${String(most)} bytes`;
    if (form && value !== '' && !form.test(value)) return `${shown(value)} contains characters that are not allowed`;
    if (expression && !expression.test(value)) return `'${value}' does not match ${String(pattern)}`;
    return values && !values.has(value) ? `'${value}' is not allowed` : undefined;
  };
}

function numberCheck(rules: Rules): FieldCheck {
  return bounded(rules, Number, (value) => (typeof value === 'object' ? undefined : Number(value)));
}

function durationCheck(rules: Rules): FieldCheck {
  const millis = (bound: unknown): number => {
    const { seconds = 0, nanos = 0 } = bound as { readonly seconds?: number; readonly nanos?: number };
    return Number(seconds) * 1000 + Number(nanos) / 1e6;
  };
  return bounded(rules, millis, (value) => (typeof value === 'string' ? parseDuration(value) : undefined));
}

/** Checks the bounds that rules have. */
function bounded(
  { gt, gte, lt, lte }: Rules,
  boundOf: (bound: unknown) => number,
  numberOf: (value: unknown) => number | undefined,
): FieldCheck {
  return (value) => {
    const number = numberOf(value);
    if (number === undefined) return undefined;
    const isLow = (gt !== undefined && number <= boundOf(gt)) || (gte !== undefined && number < boundOf(gte));
    const isHigh = (lt !== undefined && number >= boundOf(lt)) || (lte !== undefined && number > boundOf(lte));
    return isLow || isHigh ? `${String(value)} is too ${isLow ? 'small' : 'large'}` : undefined;
  };
}

function listCheck(rules: Rules): FieldCheck {
  const { min_items: least = 0, max_items: most = Infinity, unique } = rules;
  const [item = NOTHING] = itemChecks(rules['items']);
  return (value) => {
    if (!Array.isArray(value)) return undefined;
    if (value.length < Number(least)) return `fewer than ${String(least)} entries`;
    if (value.length > Number(most)) return `more than ${String(most)} entries`;
    if (unique && new Set(value).size < value.length) return 'an entry is repeated';
    return firstProblem(value, item);
  };
}

function mapCheck(rules: Rules): FieldCheck {
  const { min_pairs: least = 0 } = rules;
  const [key = NOTHING] = itemChecks(rules['keys']);
  return (value) => {
    const keys = Object.keys((value ?? {}) as object);
    return keys.length < Number(least) ? `fewer than ${String(least)} entries` : firstProblem(keys, key);
  };
}

function itemChecks(rules: unknown): FieldCheck[] {
  return Object.entries((rules ?? {}) as Rules).flatMap(([kind, own]) => CHECKS[kind]?.(own as Rules) ?? []);
}

function firstProblem(values: readonly unknown[], check: FieldCheck): string | undefined {
  for (const value of values) {
    const problem = check(value);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

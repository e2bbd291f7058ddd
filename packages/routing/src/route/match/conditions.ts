import {
  REDACTED,
  compileRegex,
  fromByteString,
  isSecretName,
  isSecretQuery,
  toByteString,
  type Regex,
  type Route,
} from '@edge-gateway/core';
import { findHeader } from '../../http1/flat-headers.ts';
import type { RequestView } from '../../format/record.ts';

type Matcher = Route['matchers'][number];

export interface Condition {
  readonly type: 'header' | 'query' | 'method';
  /** Name of the header or parameter; empty for the method. */
  readonly name: string;
  /** Exact value as a byte string, or expression; `undefined` tests for presence. */
  readonly value: string | undefined;
  readonly regex: Regex | undefined;
  readonly methods: readonly string[];
  readonly invert: boolean;
}

/** Returns the conditions of a matcher, cheapest first. */
export function compileConditions(matcher: Matcher): Condition[] {
  const conditions: Condition[] = [];
  if (matcher.methods?.length) conditions.push({ ...BLANK, type: 'method', methods: matcher.methods });
  for (const header of matcher.headers ?? []) {
    const name = (header.name ?? '').toLowerCase();
    conditions.push({ ...valueOf(header), type: 'header', name, invert: header.invertMatch === true });
  }
  for (const query of matcher.queryParameters ?? []) {
    conditions.push({ ...valueOf(query), type: 'query', name: toByteString(query.name ?? '') });
  }
  return conditions;
}

const BLANK: Condition = { type: 'method', name: '', value: undefined, regex: undefined, methods: [], invert: false };

function valueOf({ value, regex }: { readonly value?: string; readonly regex?: boolean }): Condition {
  if (!value) return BLANK;
  return regex ? { ...BLANK, value, regex: compileRegex(value) } : { ...BLANK, value: toByteString(value) };
}

export function holds(condition: Condition, view: RequestView): boolean {
  if (condition.type === 'method') return condition.methods.includes(view.method);
  const found = foundValue(condition, view);
  if (condition.value === undefined) return (found !== undefined) !== condition.invert;
  // A missing header fails every comparison, even a negated one; only the negated test for presence requires it to be missing.
  if (found === undefined) return false;
  const fits = condition.regex ? condition.regex.fullMatch(fromByteString(found)) : found === condition.value;
  return fits !== condition.invert;
}

export function allHold(conditions: readonly Condition[], view: RequestView): boolean {
  for (const condition of conditions) if (!holds(condition, view)) return false;
  return true;
}

export function foundValue({ type, name }: Condition, view: RequestView): string | undefined {
  if (type === 'method') return view.method;
  if (type === 'query') return queryValue(view.path, name);
  switch (name) {
    case ':authority':
    case 'host':
      return view.authority;
    case ':path':
      return view.path;
    case ':method':
      return view.method;
    default:
      return findHeader(view.headers, name);
  }
}

/** Returns what a condition requires, in words. The value of a credential is hidden. */
export function wanted(condition: Condition): string {
  if (condition.type === 'method') return condition.methods.join(' or ');
  const not = condition.invert;
  if (condition.value === undefined) return not ? 'absent' : 'present';
  const isSecret = condition.type === 'query' ? isSecretQuery : isSecretName;
  if (isSecret(fromByteString(condition.name))) return `${not ? 'not ' : ''}${REDACTED}`;
  if (condition.regex) return `${not ? 'no full match of' : 'full match of'} ${condition.value}`;
  return `${not ? 'not ' : ''}${fromByteString(condition.value)}`;
}

/** Returns the first value of a query parameter as written, still escaped; empty for one without `=`. */
function queryValue(path: string, name: string): string | undefined {
  let start = path.indexOf('?') + 1;
  if (start === 0) return undefined;
  while (start <= path.length) {
    const end = endOfParameter(path, start);
    if (path.startsWith(name, start)) {
      const after = start + name.length;
      if (after === end) return '';
      if (after < end && path[after] === '=') return path.slice(after + 1, end);
    }
    start = end + 1;
  }
  return undefined;
}

function endOfParameter(path: string, start: number): number {
  const end = path.indexOf('&', start);
  return end < 0 ? path.length : end;
}

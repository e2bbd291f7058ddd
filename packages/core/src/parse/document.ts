import { EVENT_ID, YAMLException, constructFromEvents, parseEvents, type Event } from 'js-yaml';
import { layoutOf, MAX_ALIASES } from './layout.ts';
import { findJsonProblem } from './json-syntax.ts';
import type { Place } from './layout.ts';
import type { Span } from './split-documents.ts';
import type { TextProblem, SourceText } from './source-text.ts';
import { findUnprintable } from './unprintable.ts';
import { yamlSyntaxProblem } from './yaml-syntax.ts';

/** Maximum nesting of maps and lists in one document. */
export const MAX_DEPTH = 64;
/** Maximum number of reported problems per document. */
const MAX_PROBLEMS = 50;
const MAX_LEADING_LINES = 1000;

/** One document of a text: its value, or its problems. Positions are offsets from the start of the text. */
export interface ParsedDocument {
  /** True if it contains only white space and comments. */
  readonly empty: boolean;
  readonly offset: number;
  readonly value: unknown;
  readonly problems: readonly TextProblem[];
}

const MAY_NEED_LAYOUT = /[&*]|<</;

/** Reads one YAML document. */
export function parseYaml(source: SourceText, span: Span): ParsedDocument {
  const text = source.text.slice(span.start, span.end);
  const problems = findUnprintable(text);
  if (problems.length > 0) return document(source, span, { problems });
  let events: Event[];
  try {
    events = parseEvents(text, { maxDepth: MAX_DEPTH });
  } catch (error) {
    return document(source, span, { problems: [syntaxProblem(error, text)] });
  }
  return construct(source, span, events);
}

/** Reads a JSON text, which is one document. */
export function parseJson(source: SourceText, span: Span): ParsedDocument {
  const problems = findUnprintable(source.text);
  if (problems.length > 0) return document(source, span, { problems });
  if (source.text.trim() === '') return { empty: true, offset: 0, value: undefined, problems };
  try {
    JSON.parse(source.text);
  } catch {
    return document(source, span, { problems: [findJsonProblem(source.text)] });
  }
  const parsed = parseYaml(source, span);
  return { ...parsed, problems: parsed.problems.map(withoutMarkerHint) };
}

/** Documents in JSON are not separated by markers. */
function withoutMarkerHint({ hint, ...problem }: TextProblem): TextProblem {
  return problem.code === 'DUPLICATE_KEY' || hint === undefined ? problem : { ...problem, hint };
}

/** Returns the positions in a document that was read before; `undefined` if they are unknown. */
export function placesOf(source: SourceText, span: Span): Place | undefined {
  try {
    const text = source.text.slice(span.start, span.end);
    return layoutOf(parseEvents(text, { maxDepth: MAX_DEPTH }), text, String).root;
  } catch {
    return undefined;
  }
}

function construct(source: SourceText, span: Span, events: Event[]): ParsedDocument {
  const text = source.text.slice(span.start, span.end);
  if (isEmpty(events)) return { empty: true, offset: span.start, value: undefined, problems: [] };
  const lineOf = (offset: number): string => {
    const { line, column } = source.originAt(span.start + offset);
    return `${line}:${column}`;
  };
  const special = MAY_NEED_LAYOUT.test(text) && events.some((event) => needsLayout(event, text));
  let problems = special ? layoutOf(events, text, lineOf).problems : [];
  let value: unknown;
  try {
    if (problems.length === 0) [value] = constructFromEvents(events, { source: text, maxAliases: MAX_ALIASES });
  } catch (error) {
    problems = layoutOf(events, text, lineOf).problems;
    if (problems.length === 0) problems = [syntaxProblem(error, text)];
  }
  if (problems.length > 0) return document(source, span, { problems });
  return document(source, span, { value: special ? unshared(value) : value, offset: startOf(events) });
}

/** Returns true for anchors, aliases and merge keys. */
function needsLayout(event: Event, text: string): boolean {
  if (event.type === EVENT_ID.ALIAS) return true;
  if (event.type === EVENT_ID.POP || event.type === EVENT_ID.DOCUMENT) return false;
  if (event.anchorStart >= 0) return true;
  return event.type === EVENT_ID.SCALAR && text.startsWith('<<', event.valueStart);
}

function document(
  source: SourceText,
  span: Span,
  parts: { value?: unknown; offset?: number; problems?: readonly TextProblem[] },
): ParsedDocument {
  const problems = (parts.problems ?? [])
    .slice(0, MAX_PROBLEMS)
    .map((problem) => ({ ...problem, offset: span.start + problem.offset }));
  const offset = span.start + (parts.offset ?? contentStart(source.text.slice(span.start, span.end)));
  return { empty: false, offset, value: parts.value, problems };
}

function syntaxProblem(error: unknown, text: string): TextProblem {
  const { reason, mark } = error instanceof YAMLException ? error : { reason: '', mark: undefined };
  const offset = mark?.position ?? 0;
  if (reason.startsWith('tab characters'))
    return { code: 'TAB_INDENTATION', offset, message: 'a tab in the indentation', hint: 'indent with spaces' };
  if (reason.startsWith('nesting exceeded'))
    return { code: 'NESTING_TOO_DEEP', offset, message: 'nested too deep', hint: `at most ${MAX_DEPTH} levels` };
  return yamlSyntaxProblem({ reason, text, offset });
}

function startOf(events: readonly Event[]): number {
  const first = events[1] as { start?: number; valueStart?: number } | undefined;
  return Math.max(0, first?.start ?? first?.valueStart ?? 0);
}

/** Returns the start of the first line with content. */
function contentStart(text: string): number {
  let offset = 0;
  for (const line of text.split('\n', MAX_LEADING_LINES)) {
    if (!/^(?:---(?=[ \t\r]|$)|%.*)?[ \t\r]*(?:#.*)?$/.test(line)) return offset + line.search(/[^ ]/);
    offset += line.length + 1;
  }
  return 0;
}

function isEmpty(events: readonly Event[]): boolean {
  const [, first] = events;
  if (!first || first.type !== EVENT_ID.SCALAR) return !first;
  return first.valueStart < 0 && first.tagStart < 0 && first.anchorStart < 0;
}

/** Aliases result in one object at several positions; later steps expect a tree. */
function unshared(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unshared);
  if (typeof value !== 'object' || value === null) return value;
  const copy = {};
  for (const [key, field] of Object.entries(value)) {
    Object.defineProperty(copy, key, { value: unshared(field), enumerable: true, writable: true, configurable: true });
  }
  return copy;
}

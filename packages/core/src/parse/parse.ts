import type { WrittenResource } from '../source/source.ts';
import type { FieldPath, Problem } from '../resource/problem.ts';
import type { Origin } from '../resource/resource.ts';
import { parseJson, parseYaml, placesOf, type ParsedDocument } from './document.ts';
import { peekIdentity, type Identity } from './document-identity.ts';
import { findPlace, readPlaces, writePlaces, type Place } from './layout.ts';
import { createSourceText, decodeSource, type TextProblem, type SourceText } from './source-text.ts';
import { splitDocuments, type Span } from './split-documents.ts';
import { findText } from './text-place.ts';

/** Options of {@link parseDocuments}. */
export interface ParseOptions {
  /** Maximum size of the input in bytes; larger input is rejected unread. Default 16 MiB. */
  readonly maxFileBytes?: number;
}

/**
 * Reads the documents of a unit: JSON when its name ends in `.json`, else YAML 1.2 with any number of documents.
 * Never throws: the problems of a document are in its `issues`, and affect only that document. The items of a `List`
 * come as resources of their own. Issues: see `resource/problem-codes.ts`.
 *
 * @example
 * for (const { origin, value, issues } of parseDocuments('kind: Upstream', 'a.yaml')) console.log(origin, value, issues);
 */
export function parseDocuments(
  input: string | Uint8Array,
  unit: string,
  options: ParseOptions = {},
): WrittenResource[] {
  return resourcesOfUnit(parseUnit(input, unit, options));
}

/** A parsed unit as plain data, which threads can exchange. */
export interface ParsedUnit {
  readonly unit: string;
  readonly text: string;
  /** The problem of the whole unit, which then contains no documents. */
  readonly problem?: TextProblem | undefined;
  /** Those with content. */
  readonly documents: readonly (ParsedDocument & {
    readonly span: Span;
    /** The positions of its fields. Default: it is read again when the first one is needed. */
    readonly places?: string;
  })[];
}

/** Parses a unit like {@link parseDocuments}; {@link resourcesOfUnit} returns its resources. */
export function parseUnit(input: string | Uint8Array, unit: string, options: ParseOptions = {}): ParsedUnit {
  const { source, problem } = decodeSource(input, unit, options.maxFileBytes);
  const { text } = source;
  if (problem) return { unit, text, problem, documents: [] };
  const json = unit.endsWith('.json');
  const spans = json ? [{ start: 0, end: text.length }] : splitDocuments(text);
  const documents = spans.map((span) => ({ ...(json ? parseJson(source, span) : parseYaml(source, span)), span }));
  return { unit, text, documents: documents.filter(({ empty }) => !empty) };
}

/** Longest text of positions that is kept. */
const MAX_PLACES_LENGTH = 4 * 1024 * 1024;

/** Returns a parsed unit with the positions of all fields, so that no document is read again. */
export function withPlaces(parsed: ParsedUnit): ParsedUnit {
  const source = createSourceText(parsed.unit, parsed.text);
  const documents = parsed.documents.map((document) => {
    const root = document.problems.length > 0 ? undefined : placesOf(source, document.span);
    const places = root && writePlaces(root);
    return places === undefined || places.length > MAX_PLACES_LENGTH ? document : { ...document, places };
  });
  return { ...parsed, documents };
}

/** Returns the resources of a parsed unit, or its problem. */
export function resourcesOfUnit({ unit, text, problem, documents }: ParsedUnit): WrittenResource[] {
  const source = createSourceText(unit, text);
  if (problem) return [unreadable(source, problem)];
  const written = documents.flatMap((parsed) => resourcesOf(source, parsed));
  if (written.length > 0) return written;
  if (text.trim() !== '') return [emptyResource(source)];
  return [unreadable(source, { code: 'EMPTY_FILE', offset: 0, message: 'the file is empty' })];
}

/** Returns an unreadable unit: one document with one problem. */
export function unreadableUnit(unit: string, problem: TextProblem): WrittenResource {
  return unreadable(createSourceText(unit, ''), problem);
}

function unreadable(source: SourceText, problem: TextProblem): WrittenResource {
  return withoutPlaces(source, [toIssue(source, problem)]);
}

function emptyResource(source: SourceText): WrittenResource {
  const problem = { code: 'NO_DOCUMENT', offset: 0, message: 'the file contains no resource' };
  return withoutPlaces(source, [{ ...toIssue(source, problem), severity: 'warning' }]);
}

function withoutPlaces(source: SourceText, issues: readonly Problem[]): WrittenResource {
  const origin = source.originAt(0);
  return { unit: source.unit, origin, value: undefined, issues, locate: () => issues[0]?.origin ?? origin };
}

function resourcesOf(source: SourceText, parsed: ParsedUnit['documents'][number]): WrittenResource[] {
  const { span } = parsed;
  if (parsed.problems.length > 0) {
    const identity = peekIdentity(source.text.slice(span.start, span.end));
    return [brokenResource(source, parsed, identity)];
  }
  const places = new Places(source, span, parsed.places);
  const items = itemsOf(parsed.value);
  if (!items) return [resourceAt([], parsed.value, parsed.offset, places)];
  return items.map((item, i) => {
    const found = places.find(['items', i]);
    return resourceAt(['items', i], item, found ? span.start + found.offset : parsed.offset, places);
  });
}

/** `at` is the path of the value in its document. */
function resourceAt(at: FieldPath, value: unknown, offset: number, places: Places): WrittenResource {
  const { source } = places;
  const issues = isObject(value) ? [] : [notAnObject(source, offset, value)];
  const origin = source.originAt(offset);
  const locate = locatorOf(places, at, origin);
  return { unit: source.unit, origin, value: issues.length > 0 ? undefined : value, issues, locate };
}

/** The function is kept as long as the resource, and must not refer to the parsed value. */
function locatorOf(places: Places, at: FieldPath, origin: Origin): WrittenResource['locate'] {
  return (path, on) => (path.length === 0 ? undefined : places.originOf([...at, ...path], on)) ?? origin;
}

/** Length from which a document is not read again for a position inside the text of a field: requests would wait. */
const LARGE_DOCUMENT = 256 * 1024;

/** The positions of the fields of one document. Unless they are known, it is read again when the first one is needed: few documents have problems. */
class Places {
  readonly source: SourceText;
  readonly #span: Span;
  #root: Place | undefined;
  #written: string | undefined;

  constructor(source: SourceText, span: Span, written: string | undefined) {
    this.source = source;
    this.#span = span;
    this.#written = written;
  }

  find(path: FieldPath): Place | undefined {
    this.#root ??= this.#written === undefined ? placesOf(this.source, this.#span) : readPlaces(this.#written);
    this.#written = undefined;
    return this.#root && findPlace(this.#root, path);
  }

  originOf(path: FieldPath, on: Parameters<WrittenResource['locate']>[1] = 'key'): Origin | undefined {
    const { source } = this;
    const { start, end } = this.#span;
    const found = this.find(path);
    if (!found) return undefined;
    if (typeof on === 'string') return source.originAt(start + (on === 'key' ? found.keyOffset : found.offset));
    if (end - start >= LARGE_DOCUMENT) return source.originAt(start + found.keyOffset);
    const text = valueAt(parseYaml(source, this.#span).value, path);
    const written = { source: source.text, offset: start + found.offset };
    const inside = typeof text === 'string' ? findText({ ...written, value: text }, on) : undefined;
    return source.originAt(inside ?? start + found.keyOffset);
  }
}

function valueAt(value: unknown, path: FieldPath): unknown {
  return path.reduce<unknown>((found, step) => (found as Record<string, unknown> | undefined)?.[step], value);
}

function brokenResource(
  source: SourceText,
  { offset, problems }: ParsedDocument,
  identity: Identity | undefined,
): WrittenResource {
  const origin = source.originAt(offset);
  const known = identity?.kind.endsWith('List') ? undefined : identity;
  const issues = problems.map((problem) => ({ ...toIssue(source, problem), ...known }));
  return { unit: source.unit, origin, value: undefined, issues, locate: () => origin };
}

function toIssue(source: SourceText, { code, offset, message, hint }: TextProblem): Problem {
  const origin = source.originAt(offset);
  return { code, severity: 'error', origin, path: [], message, ...(hint !== undefined && { hint }) };
}

function notAnObject(source: SourceText, offset: number, value: unknown): Problem {
  const is = Array.isArray(value) ? 'a list' : value === null ? 'null' : `a ${typeof value}`;
  const message = `expected an object with apiVersion, kind, metadata and spec, got ${is}`;
  return toIssue(source, { code: 'NOT_AN_OBJECT', offset, message });
}

/** Returns the items of a Kubernetes list: `kind: List`, or the `…List` of one kind. */
function itemsOf(value: unknown): readonly unknown[] | undefined {
  if (!isObject(value) || typeof value['kind'] !== 'string' || !value['kind'].endsWith('List')) return undefined;
  return Array.isArray(value['items']) ? value['items'] : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

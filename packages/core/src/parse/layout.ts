import {
  EVENT_ID,
  SCALAR_STYLE,
  constructFromEvents,
  getScalarValue,
  type AliasEvent,
  type Event,
  type MappingEvent,
  type ScalarEvent,
  type SequenceEvent,
} from 'js-yaml';
import type { FieldPath } from '../resource/problem.ts';
import type { TextProblem } from './source-text.ts';

/** Maximum number of aliases per document. */
export const MAX_ALIASES = 100;
/** Maximum number of values in a document with all aliases expanded. */
export const MAX_EXPANDED_VALUES = 100_000;

/** For `-name: a` twice: without the space, it is a key. */
const DASH = 'write a space after the "-" of a list item';

/** Keys of every resource: without the `---` between them, two documents are one. */
const RESOURCE_KEYS: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

/** The offsets of a value and its key, and the positions inside the value. */
export interface Place {
  readonly offset: number;
  readonly keyOffset: number;
  readonly children?: Map<string | number, Place>;
}

/** Data from the events of a document: positions, and problems of keys and aliases. */
export interface Layout {
  readonly root: Place | undefined;
  readonly problems: readonly TextProblem[];
}

interface Frame {
  readonly place: Place & { readonly children: Map<string | number, Place> };
  readonly mapping: boolean;
  readonly anchor: string | undefined;
  key: { readonly name: string; readonly offset: number } | undefined;
  size: number;
}

type NodeEvent = MappingEvent | SequenceEvent | ScalarEvent | AliasEvent;

/** Walks the events of one document of `text`. `lineOf` formats an offset as `line:column`. */
export function layoutOf(events: readonly Event[], text: string, lineOf: (offset: number) => string): Layout {
  const walk = new LayoutWalk(text, lineOf);
  for (const event of events) {
    if (event.type === EVENT_ID.POP) walk.leave();
    else if (event.type !== EVENT_ID.DOCUMENT) walk.enter(event);
  }
  return walk;
}

class LayoutWalk implements Layout {
  root: Place | undefined;
  readonly problems: TextProblem[] = [];
  readonly #text: string;
  readonly #lineOf: (offset: number) => string;
  readonly #stack: Frame[] = [];
  /** By name; the size is the number of all values inside. Size 0 means that the anchor is not complete yet. */
  readonly #anchors = new Map<string, { place: Place; size: number }>();
  /** True after a key that every resource has occurred twice. */
  #isJoined = false;
  #aliases = 0;
  #expanded = 0;

  constructor(text: string, lineOf: (offset: number) => string) {
    this.#text = text;
    this.#lineOf = lineOf;
  }

  enter(event: NodeEvent): void {
    const frame = this.#stack.at(-1);
    const offset = offsetOf(event, this.#text) ?? frame?.key?.offset ?? 0;
    if (frame?.mapping && !frame.key) return this.#key(frame, event, offset);
    const keyOffset = frame?.key?.offset ?? offset;
    if (event.type === EVENT_ID.ALIAS) return this.#alias(event, { offset, keyOffset });
    const anchor = event.anchorStart < 0 ? undefined : this.#text.slice(event.anchorStart, event.anchorEnd);
    if (event.type === EVENT_ID.SCALAR) {
      this.#attach({ offset, keyOffset }, 1);
      if (anchor !== undefined) this.#anchors.set(anchor, { place: { offset, keyOffset }, size: 1 });
    } else this.#open(event, { offset, keyOffset, children: new Map() }, anchor);
  }

  leave(): void {
    const frame = this.#stack.pop();
    if (!frame) return;
    const parent = this.#stack.at(-1);
    if (parent) parent.size += frame.size - 1;
    if (frame.anchor !== undefined) this.#anchors.set(frame.anchor, { place: frame.place, size: frame.size });
  }

  #open(event: MappingEvent | SequenceEvent, place: Frame['place'], anchor: string | undefined): void {
    this.#attach(place, 1);
    if (anchor !== undefined) this.#anchors.set(anchor, { place, size: 0 });
    this.#stack.push({ place, mapping: event.type === EVENT_ID.MAPPING, anchor, key: undefined, size: 1 });
  }

  #key(frame: Frame, event: NodeEvent, offset: number): void {
    if (event.type !== EVENT_ID.SCALAR) return this.#keyNotText(frame, event, offset);
    const name = keyName(event, this.#text);
    const first = frame.place.children.get(name);
    frame.key = { name, offset };
    if (name === '<<' && event.style === SCALAR_STYLE.PLAIN) {
      const message = 'merge keys (<<) are not part of YAML 1.2';
      this.problems.push({ code: 'MERGE_KEY', offset, message, hint: 'write the fields out' });
    } else if (first) this.#duplicate(name, first, offset);
  }

  #duplicate(name: string, first: Place, offset: number): void {
    const isOfRoot = this.#stack.length === 1;
    // The other keys of the second resource say nothing new.
    if (isOfRoot && this.#isJoined) return;
    const message = `duplicate key "${name}", first written at ${this.#lineOf(first.keyOffset)}`;
    this.#isJoined ||= isOfRoot && RESOURCE_KEYS.has(name);
    const isJoined = this.#isJoined && isOfRoot;
    const hint = isJoined ? "is a '---' missing between two resources?" : name.startsWith('-') ? DASH : undefined;
    this.problems.push({ code: 'DUPLICATE_KEY', offset, message, ...(hint !== undefined && { hint }) });
  }

  #keyNotText(frame: Frame, event: Exclude<NodeEvent, ScalarEvent>, offset: number): void {
    frame.key = { name: `?${offset}`, offset };
    this.problems.push({ code: 'KEY_NOT_TEXT', offset, message: 'a key must be plain text' });
    if (event.type === EVENT_ID.ALIAS) return;
    const place = { offset, keyOffset: offset, children: new Map() };
    const mapping = event.type === EVENT_ID.MAPPING;
    this.#stack.push({ place, mapping, anchor: undefined, key: undefined, size: 1 });
  }

  #alias(event: AliasEvent, place: Place): void {
    const name = this.#text.slice(event.anchorStart, event.anchorEnd);
    const known = this.#anchors.get(name);
    this.#aliases++;
    this.#attach({ ...place, children: known?.place.children }, known?.size ?? 1);
    const { offset } = place;
    if (!known) {
      // The name is not quoted: it may be a password that begins with "*".
      const message = 'an alias whose anchor is not before it';
      const hint = 'put a value that begins with "*" in quotes';
      this.problems.push({ code: 'UNKNOWN_ALIAS', offset, message, hint });
    } else if (known.size === 0) {
      this.problems.push({ code: 'ALIAS_BOMB', offset, message: `*${name} contains itself` });
    } else if (this.#aliases === MAX_ALIASES + 1) {
      this.problems.push({ code: 'ALIAS_BOMB', offset, message: 'too many aliases', hint: `at most ${MAX_ALIASES}` });
    }
  }

  #attach(place: Place, size: number): void {
    const before = this.#expanded;
    this.#expanded += size;
    if (this.#aliases > 0 && before <= MAX_EXPANDED_VALUES && this.#expanded > MAX_EXPANDED_VALUES) {
      const hint = `at most ${MAX_EXPANDED_VALUES} values with all aliases written out`;
      this.problems.push({ code: 'ALIAS_BOMB', offset: place.offset, message: 'the aliases expand too much', hint });
    }
    const frame = this.#stack.at(-1);
    if (!frame) {
      this.root ??= place;
      return;
    }
    frame.size += size;
    const step = frame.mapping ? frame.key!.name : frame.place.children.size;
    if (!frame.place.children.has(step)) frame.place.children.set(step, place);
    frame.key = undefined;
  }
}

/** Returns the property name of a key: `null`, `true` and numbers in their text form. */
function keyName(event: ScalarEvent, text: string): string {
  const written = getScalarValue(text, event);
  if (event.style !== SCALAR_STYLE.PLAIN || !/^(?:[-+.\d~nNtTfF]|$)/.test(written)) return written;
  const document = { type: EVENT_ID.DOCUMENT, explicitStart: false, explicitEnd: false, directives: [] };
  return String(constructFromEvents([document, event, { type: EVENT_ID.POP }], { source: text })[0]);
}

function offsetOf(event: NodeEvent, text: string): number | undefined {
  if (event.type === EVENT_ID.ALIAS) return event.anchorStart - 1;
  if (event.type !== EVENT_ID.SCALAR) return event.start;
  if (event.valueStart < 0) return undefined;
  if (event.style === SCALAR_STYLE.PLAIN) return event.valueStart;
  if (event.style === SCALAR_STYLE.LITERAL_BLOCK) return text.lastIndexOf('|', event.valueStart);
  if (event.style === SCALAR_STYLE.FOLDED_BLOCK) return text.lastIndexOf('>', event.valueStart);
  return event.valueStart - 1;
}

/** Returns positions as a text, for {@link readPlaces}. */
export function writePlaces(root: Place): string {
  return JSON.stringify(root, (_name, value: unknown) => (value instanceof Map ? [...value] : value));
}

export function readPlaces(text: string): Place {
  return toPlace(JSON.parse(text) as WrittenPlace);
}

interface WrittenPlace extends Omit<Place, 'children'> {
  readonly children?: readonly (readonly [step: string | number, place: WrittenPlace])[];
}

function toPlace({ children, ...place }: WrittenPlace): Place {
  return { ...place, ...(children && { children: new Map(children.map(([step, child]) => [step, toPlace(child)])) }) };
}

/** Returns the position of a path, or of its nearest existing parent. */
export function findPlace(root: Place, path: FieldPath): Place {
  let place = root;
  for (const step of path) {
    const next = place.children?.get(step);
    if (!next) break;
    place = next;
  }
  return place;
}

import { isDeepStrictEqual } from 'node:util';
import { gatewayNamespace } from '@edge-gateway/core';
import {
  Document,
  isAlias,
  isMap,
  isSeq,
  isNode,
  parseAllDocuments,
  parseDocument,
  visit,
  type Node,
  type ToStringOptions,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { dig, text as textAt } from '../resources/objects.ts';
import { patchLines } from './patch-lines.ts';

/** Kind, namespace and name of a resource. */
export interface Identity {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

type Path = readonly (string | number)[];

/** `styled` is closer to the layout of the file, but may have changed text that looks like YAML. */
interface Rendering {
  readonly plain: string;
  readonly styled: string;
}

/** The documents of a file of resources, to change some of their fields. Comments and the order of fields are kept. */
export class ResourceFile {
  readonly #text: string;
  readonly #isJson: boolean;
  readonly #documents: Document[];
  /** The documents before any change, as they are rendered. */
  readonly #rendered: Rendering;
  readonly #styles: ReadonlyMap<Document, Style>;

  /** @param file The name of the file: `.json` decides about the format. */
  constructor(text: string, file: string) {
    this.#text = text;
    this.#isJson = file.endsWith('.json');
    this.#documents = this.#isJson ? [new Document(JSON.parse(text))] : documentsOf(text);
    const textOf = ({ range }: Document) => text.slice(range?.[0] ?? 0, range?.[2]).replaceAll('\r\n', '\n');
    this.#styles = new Map(this.#documents.map((document) => [document, styleOf(textOf(document))]));
    this.#rendered = this.#render();
  }

  /** Returns a resource; `undefined` if the file does not contain it. */
  find(identity: Identity): EditedResource | undefined {
    const place = this.#placeOf(identity);
    return place && new EditedResource(place.document, place.path);
  }

  /** Removes a resource; returns false if no resource is left. */
  remove(identity: Identity): boolean {
    const { document, path } = this.#placeOf(identity)!;
    if (path.length > 0) document.deleteIn(path);
    const isList = path.length > 0 && (document.getIn(path.slice(0, -1)) as YAMLSeq).items.length > 0;
    if (!isList) this.#documents.splice(this.#documents.indexOf(document), 1);
    return this.#documents.some((one) => one.toJS() !== null);
  }

  #placeOf(identity: Identity): { document: Document; path: Path } | undefined {
    for (const document of this.#documents) {
      const found = placesIn(document.toJS()).find(([, one]) => isDeepStrictEqual(identityIn(one), identity));
      if (found) return { document, path: found[0] };
    }
    return undefined;
  }

  /** Returns the text of the file with all changes; lines that are not affected are unchanged where that is possible. */
  toText(): string {
    if (this.#isJson) return this.#jsonText();
    const after = this.#render();
    if (after.plain === this.#rendered.plain) return this.#text;
    const newline = this.#text.includes('\r\n') ? '\r\n' : '\n';
    const patched = patchLines(this.#text.replaceAll('\r\n', '\n'), this.#rendered.styled, after.styled);
    const text = patched !== undefined && meansSame(patched, after.plain) ? patched : after.plain;
    return newline === '\n' ? text : text.replaceAll('\n', newline);
  }

  #render(): Rendering {
    const parts = this.#documents.map((document) => {
      const { options, hasTightLists } = this.#styles.get(document)!;
      const plain = document.toString(options);
      return { plain, styled: hasTightLists ? withTightLists(plain) : plain };
    });
    return { plain: parts.map(({ plain }) => plain).join(''), styled: parts.map(({ styled }) => styled).join('') };
  }

  #jsonText(): string {
    const indent = /^[ \t]+(?=")/m.exec(this.#text)?.[0] ?? 2;
    const [document] = this.#documents;
    return `${JSON.stringify(document?.toJS(), undefined, indent)}\n`;
  }
}

/** One resource of a {@link ResourceFile}; paths begin at the resource. */
export class EditedResource {
  readonly path: Path;
  readonly #document: Document;

  constructor(document: Document, path: Path) {
    this.#document = document;
    this.path = path;
  }

  /** Returns the plain value of a field; `undefined` if it is missing. */
  get(path: Path = []): unknown {
    return dig(this.#document.toJS(), ...this.#spelled(path));
  }

  /** Sets a field; missing parents are created. */
  set(path: Path, value: unknown): void {
    const full = this.#own(path);
    const before = this.#document.getIn(full, true) as Node | undefined;
    const node = isNode(value) ? value : this.#document.createNode(value, { aliasDuplicateObjects: false });
    openEmpty(this.#document, full);
    if (before?.comment) node.comment = before.comment;
    if (before?.commentBefore) node.commentBefore = before.commentBefore;
    this.#document.setIn(full, node);
  }

  /** Returns the YAML of a field with its comments; empty if it is missing. */
  textOf(path: Path): string {
    const node = this.#document.getIn(this.#spelled(path), true) as Node | undefined;
    const target = isAlias(node) ? node.resolve(this.#document) : node;
    return target === undefined ? '' : new Document(copyOf(target)).toString({ lineWidth: 0 });
  }

  /** Sets a field to a YAML text with its comments. */
  setText(path: Path, text: string): void {
    this.set(path, parseDocument(text).contents);
  }

  /** Removes a field, if it is present, and fields around it that are then empty, up to `spec`. */
  unset(path: Path): void {
    const full = this.#own(path);
    for (let length = full.length; length > this.path.length + 1; length--) {
      const at = full.slice(0, length);
      const node = this.#document.getIn(at, true);
      const isEmpty = (isMap(node) || isSeq(node)) && node.items.length === 0;
      if (length < full.length && !isEmpty) return;
      if (this.#document.hasIn(at)) this.#document.deleteIn(at);
    }
  }

  /** Inserts an element into a list, which is created if it is missing. */
  insert(path: Path, index: number, value: unknown): void {
    const list = this.#list(path);
    const node = this.#document.createNode(value, { aliasDuplicateObjects: false }) as Node;
    if (!list) return this.set(path, [value]);
    if (list.items.length === 0) list.flow = false;
    moveFirstComment(list);
    list.items.splice(index, 0, node);
  }

  /** Removes an element of a list. */
  remove(path: Path, index: number): void {
    const list = this.#list(path)!;
    moveFirstComment(list);
    list.items.splice(index, 1);
    dropFirstSpace(list);
  }

  /** Puts the elements of a list into another order: `order[i]` is the previous index of the element at `i`. */
  reorder(path: Path, order: readonly number[]): void {
    const list = this.#list(path)!;
    moveFirstComment(list);
    list.items = order.map((index) => list.items[index]);
    dropFirstSpace(list);
  }

  #list(path: Path): YAMLSeq | undefined {
    const node = this.#document.getIn(this.#own(path), true);
    return isSeq(node) ? node : undefined;
  }

  /** The path in the document, as it is written. Aliases on it become copies: a change of their anchor would change other fields too. */
  #own(path: Path): Path {
    const full = this.#spelled(path);
    for (const length of full.keys()) {
      const at = full.slice(0, length);
      const node = this.#document.getIn(at, true);
      const target = isAlias(node) ? node.resolve(this.#document) : undefined;
      if (target) this.#document.setIn(at, copyOf(target));
    }
    return full;
  }

  /** The path in the document; keys may be written in snake_case. */
  #spelled(path: Path): Path {
    const full: (string | number)[] = [...this.path];
    let at = dig(this.#document.toJS(), ...full);
    for (const step of path) {
      const snake = typeof step === 'string' ? step.replaceAll(/[A-Z]/g, (char) => `_${char.toLowerCase()}`) : step;
      const key = dig(at, step) === undefined && dig(at, snake) !== undefined ? snake : step;
      full.push(key);
      at = dig(at, key);
    }
    return full;
  }
}

/** The documents that are not empty, as YAML 1.2. */
export function documentsOf(text: string): Document[] {
  const documents = parseAllDocuments(text, { uniqueKeys: false });
  return Array.isArray(documents) ? (documents as Document[]) : [];
}

/** How a document is laid out. */
interface Style {
  readonly options: ToStringOptions;
  /** `{ a: 1 }` beside `[1]`, for which the renderer has no option. */
  readonly hasTightLists: boolean;
}

const LIST = /^( *)[^\s#-][^\n]*:[ ]*(?:#[^\n]*)?\n(?:[ ]*(?:#[^\n]*)?\n)*( *)- /m;
const MAP = /^(?:[^\s#-][^\n]*):[ ]*(?:#[^\n]*)?\n(?:[ ]*(?:#[^\n]*)?\n)*( +)[^\s#-]/m;

/** The style that comes nearest to the layout of a text. */
function styleOf(text: string): Style {
  const list = LIST.exec(text);
  const map = MAP.exec(text);
  const countOf = (pattern: RegExp) => text.match(pattern)?.length ?? 0;
  const hasPaddedMaps = countOf(/\{ +[^\s}]/g) >= countOf(/\{[^\s}]/g);
  const hasPaddedLists = countOf(/\[ +[^\s\]]/g) > countOf(/\[[^\s\]]/g);
  const indent = map?.[1]?.length ?? 2;
  const indentSeq = !list || list[2]!.length > list[1]!.length;
  return {
    options: { lineWidth: 0, singleQuote: true, indent, indentSeq, flowCollectionPadding: hasPaddedMaps },
    hasTightLists: hasPaddedMaps && !hasPaddedLists,
  };
}

/** Texts in quotes and comments, in which nothing is replaced, and the brackets of lists with a space inside. */
const TOKENS = /(?<=[\s[{,:])(?:'(?:[^']|'')*'|"(?:[^"\\]|\\.)*"|#.*)|\[ (?=\S)|(?<=[^\s[]) \]/g;

/** Removes the spaces inside of the brackets of lists; the caller must check that no text has changed. */
export function withTightLists(text: string): string {
  return text.replaceAll(TOKENS, (token) => (token === '[ ' ? '[' : token === ' ]' ? ']' : token));
}

/** The resources in a document with their paths: the document itself, or the items of a list. */
function placesIn(value: unknown): [Path, unknown][] {
  const items = textAt(value, 'kind').endsWith('List') ? dig(value, 'items') : undefined;
  return Array.isArray(items) ? items.map((item, i) => [['items', i], item]) : [[[], value]];
}

function identityIn(value: unknown): Identity {
  const namespace = textAt(value, 'metadata', 'namespace') || gatewayNamespace();
  return { kind: textAt(value, 'kind'), namespace, name: textAt(value, 'metadata', 'name') };
}

/** Empty maps on a path, which can only be written as `{}`, become blocks. */
function openEmpty(document: Document, path: Path): void {
  for (const length of path.keys()) {
    const node = document.getIn(path.slice(0, length), true);
    if ((isMap(node) || isSeq(node)) && node.items.length === 0) node.flow = false;
  }
}

/** The parser attaches a comment above the first element to the list; it must move with the element. */
function moveFirstComment(list: YAMLSeq | YAMLMap): void {
  const first = list.items[0] as Node | undefined;
  if (!first || !list.commentBefore || list.flow) return;
  first.commentBefore = [list.commentBefore, first.commentBefore].filter(Boolean).join('\n');
  list.commentBefore = undefined;
}

/** An empty line above the first element would consist of spaces. */
function dropFirstSpace({ items: [first] }: YAMLSeq): void {
  if (isNode(first)) first.spaceBefore = false;
}

function copyOf(node: Node): Node {
  const copy = node.clone() as Node;
  const clean = (each: Node): void => {
    delete (each as { anchor?: string }).anchor;
  };
  clean(copy);
  visit(copy, { Node: (_, each) => clean(each) });
  return copy;
}

/** Returns true if two texts have the same documents with the same comments. */
export function meansSame(a: string, b: string): boolean {
  const read = (text: string) => {
    const documents = documentsOf(text);
    const comments: string[] = [];
    for (const document of documents) {
      comments.push(document.commentBefore ?? '', document.comment ?? '');
      visit(document, {
        Node: (_, node) => {
          comments.push(node.commentBefore ?? '', node.comment ?? '');
        },
      });
    }
    const isBroken = documents.some(({ errors }) => errors.length > 0);
    const lines = comments.flatMap((comment) => comment.split('\n')).filter(Boolean);
    return { isBroken, values: documents.map((document) => document.toJS() as unknown), comments: lines.sort() };
  };
  return isDeepStrictEqual(read(a), read(b));
}

import { isDeepStrictEqual } from 'node:util';
import { isMap, isScalar, Scalar, visit, type Document, type Pair, type YAMLMap } from 'yaml';
import { documentsOf, meansSame, withTightLists } from './resource-file.ts';

/** The order of fields; fields in `...` are between them, in the order in which they are written. */
const ROOT_FIELDS = ['apiVersion', 'kind', 'metadata', '...', 'status'];
const METADATA_FIELDS = ['name', 'namespace', 'labels', 'annotations', '...'];

/**
 * Returns resources in their canonical form: two spaces of indentation, one empty line at most, `{ a: 1 }` and `[1]`, single quotes,
 * and `apiVersion`, `kind` and `metadata` first. Values and comments stay the same. The text must be valid.
 *
 * @param file The name of the file: `.json` decides about the format.
 */
export function canonicalText(text: string, file: string): string {
  if (file.endsWith('.json')) return `${JSON.stringify(JSON.parse(text), undefined, 2)}\n`;
  const documents = documentsOf(text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n'));
  if (documents.length === 0) return text;
  const before = documents.map(String).join('');
  for (const [i, document] of documents.entries()) normalize(document, i === 0);
  const plain = documents.map((document) => document.toString({ lineWidth: 0, singleQuote: true })).join('');
  const tight = withTightLists(plain);
  const after = meansSame(tight, plain) ? tight : plain;
  // Safeguard: formatting must not change the meaning of a file.
  if (!meansSame(before, after)) throw new Error(`${file} cannot be formatted without changing its meaning`);
  return after;
}

function normalize(document: Document, isFirst: boolean): void {
  const { contents, directives } = document;
  if (isFirst && directives && !directives.yaml.explicit && isDeepStrictEqual(Object.keys(directives.tags), ['!!']))
    directives.docStart = null;
  visit(document, {
    Scalar: (_, scalar) => {
      const isPlain = !/['\\\p{C}]/u.test(String(scalar.value));
      if (scalar.type === Scalar.QUOTE_DOUBLE && isPlain) scalar.type = Scalar.QUOTE_SINGLE;
    },
  });
  if (!isMap(contents)) return;
  sortFields(contents, ROOT_FIELDS);
  const metadata = contents.get('metadata');
  if (isMap(metadata)) sortFields(metadata, METADATA_FIELDS);
}

function sortFields(map: YAMLMap, order: readonly string[]): void {
  const rankOf = ({ key }: Pair): number => {
    const rank = order.indexOf(String(isScalar(key) ? key.value : key));
    return rank < 0 ? order.indexOf('...') : rank;
  };
  const sorted = map.items.toSorted((a, b) => rankOf(a) - rankOf(b));
  if (sorted.every((pair, i) => pair === map.items[i])) return;
  // The parser attaches a comment above the first field to the map; it must move with the field.
  const [first] = map.items;
  if (map.commentBefore && isScalar(first?.key)) {
    first.key.commentBefore = [map.commentBefore, first.key.commentBefore].filter(Boolean).join('\n');
    map.commentBefore = undefined;
  }
  map.items = sorted;
  const [top] = sorted;
  if (isScalar(top?.key)) top.key.spaceBefore = false;
}

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { constructFromEvents, parseEvents } from 'js-yaml';
import { readSimpleYaml } from '../../src/parse/simple-yaml.ts';
import { splitDocuments } from '../../src/parse/split-documents.ts';

const ROOT = join(import.meta.dirname, '../../../..');

/** The parser of all YAML: the value and the offset of the first node; `undefined` if the document is invalid. */
function parsed(text: string): ReturnType<typeof readSimpleYaml> {
  try {
    const events = parseEvents(text, { maxDepth: 64 });
    const [value] = constructFromEvents(events, { source: text });
    const first = events[1] as { start?: number } | undefined;
    return { value, offset: first?.start ?? 0 };
  } catch {
    return undefined;
  }
}

/** Fails if a document is read with another result than by the parser of all YAML. Returns whether it is read. */
function isReadAlike(text: string): boolean {
  const simple = readSimpleYaml(text);
  if (!simple) return false;
  const expected = parsed(text);
  // Compared as text as well, with the order of keys.
  expect(JSON.stringify(simple), JSON.stringify(text)).to.equal(JSON.stringify(expected));
  expect(simple).to.deep.equal(expected);
  return true;
}

const SIMPLE: Readonly<Record<string, string>> = {
  'a mapping': 'a: 1\nb: text\n',
  'no line feed at the end': 'a: 1',
  'a marker and comments before it': '# comment\n\n---\n# another\na: 1\n',
  'nested blocks': 'a:\n  b:\n      c: 1\n  d: 2\ne: 3\n',
  'a sequence with the indentation of its key': 'a:\n- 1\n- b: 2\n  c: 3\n-\n  d: 4\ne: 5\n',
  'a sequence with further indentation': 'a:\n    - b:\n        - c\n      d: e\n    -   f: 1\n        g: 2\n',
  'comments and blank lines between': 'a:\n# comment\n  b: 1\n\n   # comment\n  \n  c: 2\n#\n',
  'keys without a value': 'a:\nb:\n  c:\nd:\n',
  'flow collections': 'a: {b: [x, {c: 1}, []], d: {}, e: [ 1 , 2 ] }\nf: [{g: h}, "i, j", \'k]\']\n',
  'quoted texts': `a: 'b: c'\nd: "e # f"\ng: ''\nh: ""\ni: 'say "j"'\nk: '*'\n`,
  'plain texts':
    "a: it's [b] {c}, d\ne: http://f:80/g#h\ni: /j\nk: ./l.m\nn: -o\np: 1s\nq: 10.0.0.1\nr: 1 2  \ns: $t\nu: ^/v$\n",
  'numbers and words':
    'a: 0\nb: 123456789012345\nc: 0.25\nd: true\ne: false\nf: nullable\ng: truth\nh: [1, 2.5, true]\n',
  'keys of header names and paths': 'x-a: 1\nb/c.d_e: 2\nF: 3\n',
};

const OTHER: Readonly<Record<string, string>> = {
  nothing: '',
  'only comments': '# a\n',
  'a text': 'a\n',
  'a sequence': '- a\n',
  'an indented mapping': '  a: 1\n',
  'a duplicate key': 'a: 1\na: 2\n',
  'a duplicate key without a value': 'a:\nb: 1\na:\n',
  'a duplicate key in a flow mapping': 'a: {b: 1, b: 2}\n',
  'keys of the prototype': '__proto__: 1\n',
  'keys with a type': 'a: 1\ntrue: 2\n',
  'numbers as keys': '1: a\n',
  'quoted keys': '"a": 1\n',
  'anchors and aliases': 'a: &x 1\nb: *x\n',
  'merge keys': 'a: {b: 1}\n<<: {c: 1}\n',
  tags: 'a: !!str 1\n',
  'block scalars': 'a: |\n  b\n',
  'texts on several lines': 'a: b\n  c\n',
  'quoted texts on several lines': 'a: "b\n  c"\n',
  'flow collections on several lines': 'a: [b,\n  c]\n',
  escapes: "a: \"\\u0041\"\nb: 'it''s'\n",
  'comments after values': 'a: b # c\n',
  'comments after keys': 'a: # b\n  c: 1\n',
  tabs: 'a:\tb\n',
  'carriage returns': 'a: b\r\n',
  'characters beyond ASCII': 'a: \u00e9\n',
  'a byte order mark': '\ufeffa: b\n',
  'control characters': 'a: b\u0001\n',
  'less indentation than any parent': 'a:\n    b: 1\n  c: 2\n',
  'more indentation than the keys before': 'a: 1\n  b: 2\n',
  'a colon in a plain text': 'a: b: c\n',
  'a colon at the end of a plain text': 'a: b:\n',
  'other numbers': 'a: 0x1f\nb: 1e3\nc: -0\nd: 012\ne: .inf\nf: 1234567890123456\n',
  'null and its spellings': 'a: null\nb: ~\nc: True\n',
  'an unclosed flow collection': 'a: [b\n',
  'an empty item': 'a: [b, ]\n',
  'a pair in a flow sequence': 'a: [b: c]\n',
  'a second document': 'a: 1\n---\nb: 2\n',
  'the end of a document': 'a: 1\n...\n',
  'a directive': '%YAML 1.2\n---\na: 1\n',
  'content beside the marker': '--- a: 1\n',
  'deep nesting': `a: ${'['.repeat(40)}${']'.repeat(40)}\n`,
};

describe('readSimpleYaml', () => {
  for (const [what, text] of Object.entries(SIMPLE))
    it(`reads ${what}`, () => {
      expect(isReadAlike(text)).to.equal(true);
    });

  for (const [what, text] of Object.entries(OTHER))
    it(`leaves ${what} to the parser`, () => {
      expect(readSimpleYaml(text)).to.equal(undefined);
    });

  it('reads most resources of examples, the demo and tests, and all with the result of the parser', () => {
    const folders = ['examples', 'apps/gateway/demo', 'packages/core/test/golden'];
    const documents = folders.flatMap((folder) => documentsBelow(join(ROOT, folder)));
    const read = documents.filter(isReadAlike);
    expect(documents.length).to.be.greaterThan(100);
    expect(read.length / documents.length).to.be.greaterThan(0.5);
  });

  it('reads random documents with the result of the parser, or not at all', () => {
    const random = createRandom(20_261_126);
    let read = 0;
    for (let i = 0; i < 20_000; i++) if (isReadAlike(randomDocument(random))) read++;
    expect(read).to.be.within(2_000, 18_000);
  });
});

function documentsBelow(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /\.ya?ml$/.test(name));
  return names.flatMap((name) => {
    if (name.includes('node_modules')) return [];
    const text = readFileSync(join(folder, name), 'utf8');
    return splitDocuments(text).map(({ start, end }) => text.slice(start, end));
  });
}

type Random = (limit: number) => number;

/** Numbers below a limit, the same ones in each run. */
function createRandom(seed: number): Random {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

const KEYS = ['a', 'b', 'c', 'name', 'x-y', 'd.e/f', 'G_1', 'null', 'y', 'toString', '1', '-', '"q"', '<<', 'a b'];
const SCALARS =
  `1 0 -1 01 1.5 1. .5 1e3 0x1f +1 .inf true false null True ~ text a-b /p - -- --- ... -a 'q' "q" '' "" 'it''s' "\\n" a:b a: :a a#b a,b [ ] { } {} [] *a &a !a | > % @ \` ? a?b 10.0.0.1 2026-01-01 1_000 $a ^a (a) +a =a`.split(
    ' ',
  );
const PIECES = [
  ' ',
  '  ',
  '\n',
  '\n  ',
  '\n\n',
  ': ',
  ':',
  '- ',
  '-',
  '#',
  ' #',
  ' # c',
  ', ',
  ',',
  "'",
  '"',
  '\t',
  '[',
  '}',
];

/** A document that is mostly simple, with a few mistakes and unusual parts. */
function randomDocument(random: Random): string {
  const pick = <T>(list: readonly T[]): T => list[random(list.length)]!;
  const usual = (list: readonly string[], count: number): string =>
    random(8) === 0 ? pick(list) : list[random(count)]!;
  const key = (): string => usual(KEYS, 7);
  const scalar = (): string => (random(6) === 0 ? `${pick(SCALARS)} ${pick(SCALARS)}` : pick(SCALARS));
  const flow = (depth: number): string => {
    const kind = depth > 2 ? 0 : random(4);
    if (kind < 2) return scalar();
    const parts = Array.from({ length: random(4) }, () => (kind === 2 ? '' : `${key()}: `) + flow(depth + 1));
    return kind === 2 ? `[${parts.join(', ')}]` : `{${parts.join(', ')}}`;
  };
  const value = (indent: number, depth: number): string => {
    const kind = depth > 3 ? 0 : random(5);
    if (kind < 2) return ` ${flow(0)}\n`;
    if (kind === 2) return '\n';
    const inner = indent + random(4);
    return `\n${kind === 3 ? mapping(inner, depth + 1) : sequence(inner, depth + 1)}`;
  };
  const gap = (): string => (random(12) === 0 ? pick(['\n', '# c\n', '   # c\n', '   \n']) : '');
  const mapping = (indent: number, depth: number): string =>
    Array.from({ length: 1 + random(3) }, () => `${gap()}${' '.repeat(indent)}${key()}:${value(indent, depth)}`).join(
      '',
    );
  const sequence = (indent: number, depth: number): string =>
    Array.from({ length: 1 + random(3) }, () => {
      const item = `${gap()}${' '.repeat(indent)}-`;
      if (random(2) === 0) return `${item}${value(indent, depth)}`;
      return `${item} ${mapping(indent + 2, depth + 1).trimStart()}`;
    }).join('');
  let text = `${pick(['', '', '---\n', '# c\n---\n'])}${mapping(0, 0)}`;
  for (let changes = random(3); changes > 0; changes--) {
    const at = random(text.length + 1);
    text = text.slice(0, at) + (random(2) === 0 ? pick(PIECES) : '') + text.slice(at + random(2));
  }
  return text;
}

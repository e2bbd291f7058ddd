import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { parseDocuments } from '../../src/parse/parse.ts';
import { yamlSyntaxProblem } from '../../src/parse/yaml-syntax.ts';

/** Returns the first problem of a text as `line:column message (hint)`. */
function problemOf(text: string): string {
  const [issue] = parseDocuments(text, 'a.yaml').flatMap(({ issues }) => issues);
  if (!issue) return 'none';
  const { origin, message, hint } = issue;
  return `${origin.line}:${origin.column} ${message} (${hint})`;
}

const KEYS = 'begin all keys of an object in the same column, deeper than the key above them';
const KEY_AND_VALUE = 'write "key: value", with a space after the colon';
const further = (sign: string, what = 'text'): string =>
  `add the closing ${sign}, or indent the rest of the ${what} deeper`;
const REST = 'indent it like the lines above, or begin another document with ---';
const COMMA = 'write [1, 2] or { a: 1, b: 2 }; put text with brackets, commas or ": " in quotes';
const BLOCK = 'write |, |- or |+, and the text on the next line';
const TAG = 'an unknown or invalid tag (remove it, or put the value in quotes if it begins with "!")';
const DIRECTIVE = 'an invalid directive (a line that begins with "%" is a directive: put the value in quotes)';
const MANY = 'more than one tag, anchor or alias in front of a value (keep one, or put the value in quotes)';

const MISTAKES: readonly (readonly [name: string, text: string, problem: string])[] = [
  ['a key below a value', 'a: 1\n b: 2\n', `2:2 wrong indentation (${KEYS})`],
  ['a key between two levels', 'a:\n    b: 1\n  c: 2\n', `3:3 wrong indentation (${KEYS})`],
  ['a key beside the items of a list', 'a:\n  - x: 1\n  y: 2\n', `3:3 wrong indentation (${KEYS})`],
  ['a key deeper than its neighbors in an item', '- a: 1\n   b: 2\n', `2:4 wrong indentation (${KEYS})`],
  [
    'two colons in a line',
    'x: 1\na: b: c\n',
    '2:5 a second ": " in one line (put the value in quotes, or the inner key on a line of its own)',
  ],
  [
    'text after quotes',
    'a: "x" y\n',
    String.raw`1:8 text after the end of a value (put the whole value in quotes, and write \" for a " in it)`,
  ],
  [
    'text after quotes in a list',
    'a:\n  - "x" y\n',
    String.raw`2:9 text after the end of a value (put the whole value in quotes, and write \" for a " in it)`,
  ],
  [
    'text after quotes in brackets',
    'a: ["x"] y\n',
    '1:10 text after the end of a value (put the whole value in quotes)',
  ],
  [
    'an apostrophe in single quotes in a list',
    "- 'it's'\n",
    "1:7 text after the end of a value (put the whole value in quotes, and write '' for a ' in it)",
  ],
  ['text after brackets in a list', '- [a-z]+\n', '1:8 text after the end of a value (put the whole value in quotes)'],
  ['text after brackets', 'regex: [a-z]+\n', '1:13 text after the end of a value (put the whole value in quotes)'],
  [
    'an apostrophe in single quotes',
    "a: 'it's'\n",
    "1:8 text after the end of a value (put the whole value in quotes, and write '' for a ' in it)",
  ],
  ['a value with @', 'a: @b\n', '1:4 a value must not begin with "@" outside of quotes (put the value in quotes)'],
  ['an item with %', 'a:\n  - %b\n', '2:5 a value must not begin with "%" outside of quotes (put the value in quotes)'],
  [
    'an item with a backtick',
    '- `b`\n',
    '1:3 a value must not begin with "`" outside of quotes (put the value in quotes)',
  ],
  [
    'a text that is only a reserved sign',
    '@b\n',
    '1:1 a value must not begin with "@" outside of quotes (put the value in quotes)',
  ],
  [
    'a value with a bracket',
    'a: ]\n',
    '1:4 a value must not begin with "]" outside of quotes (put the value in quotes)',
  ],
  ['an item with a brace', '- }\n', '1:3 a value must not begin with "}" outside of quotes (put the value in quotes)'],
  [
    'a value with a comma',
    'a: ,b\n',
    '1:4 a value must not begin with "," outside of quotes (put the value in quotes)',
  ],
  ['a bare *', 'domains: [*]\n', '1:11 a value must not begin with "*" outside of quotes (put the value in quotes)'],
  ['a bare &', 'a: & b\n', '1:4 a value must not begin with "&" outside of quotes (put the value in quotes)'],
  [
    'an unknown alias',
    'domains: [*.example.com]\n',
    '1:11 an alias whose anchor is not before it (put a value that begins with "*" in quotes)',
  ],
  [
    'an item that is deeper than its list',
    'a:\n  - x:\n      y: 1\n    - z\n',
    '4:5 wrong indentation of a list item (begin all items of a list in the same column)',
  ],
  [
    'a list item in the wrong column',
    'a:\n  - [x]\n   - y\n',
    '3:4 wrong indentation of a list item (begin all items of a list in the same column)',
  ],
  ['double quotes that do not end', 'a: "x\nb: 1\n', `1:4 a text in double quotes is not closed (${further('"')})`],
  ['double quotes at the end', 'a: 1\nb: "x\n', `2:4 a text in double quotes is not closed (${further('"')})`],
  [
    'single quotes that do not end',
    "a:\n  b: 'x\n  c: 1\n",
    `2:6 a text in single quotes is not closed (${further("'")})`,
  ],
  ['a list that does not end', 'a: [1, 2\nb: 1\n', `1:4 a list is not closed (${further(']', 'list')})`],
  ['an object that does not end', 'a: { b: 1\nc: 2\n', `1:4 an object is not closed (${further('}', 'object')})`],
  ['an object in a list', 'a:\n  b: [{ c: 1\n  d: 1\n', `2:7 an object is not closed (${further('}', 'object')})`],
  ['a list after another', 'a: [[1], [2]\n', `1:4 a list is not closed (${further(']', 'list')})`],
  ['quotes in a list', 'a: ["x, y]\nb: 1\n', `1:5 a text in double quotes is not closed (${further('"')})`],
  ['no comma', 'a: { b: 1 c: 2 }\n', `1:12 no comma between two entries (${COMMA})`],
  ['the wrong bracket', 'a: [1, 2}\n', '1:9 a list must end with "]", not with "}" (write "]")'],
  ['two commas', 'a: [1,, 2]\n', '1:7 a comma without an entry before it (remove the comma)'],
  ['no space after the colon', 'x: 1\na:1\nb: 2\n', `2:1 this line is not a key with a value (${KEY_AND_VALUE})`],
  ['no space in the first line', 'a:1\nb: 2\n', `1:1 this line is not a key with a value (${KEY_AND_VALUE})`],
  ['no colon', 'x: 1\na\nb: 2\n', `2:1 this line is not a key with a value (${KEY_AND_VALUE})`],
  ['no colon in an inner object', 'a:\n  b\n  c: 1\n', `2:3 this line is not a key with a value (${KEY_AND_VALUE})`],
  ['a key beside items', 'a:\n  - b\n  c: 1\n', `3:3 wrong indentation (${KEYS})`],
  [
    'no space after the dashes of a list',
    'a:\n  -b: 1\n  -b: 2\n',
    '3:3 duplicate key "-b", first written at 2:3 (write a space after the "-" of a list item)',
  ],
  ['no colon in the last line', 'x: 1\na\n', `2:1 this line is not a key with a value (${KEY_AND_VALUE})`],
  [
    'no colon at the end of an object',
    'a:\n  b: 1\n  c\nd: 1\n',
    `3:3 this line is not a key with a value (${KEY_AND_VALUE})`,
  ],
  ['no space after a key in quotes', '"a":1\n', `1:5 no space after the colon (${KEY_AND_VALUE})`],
  ['a key after a list', '- a\nb: 1\n', `2:1 this line does not belong to the list or object above (${REST})`],
  [
    'a line that begins with a colon',
    'a\n: b\n',
    `2:1 this line does not belong to the list or object above (${REST})`,
  ],
  [
    'a first line that is indented',
    '  a: 1\nb: 2\n',
    `2:1 this line does not belong to the list or object above (${REST})`,
  ],
  [
    'a backslash in double quotes',
    String.raw`a: "\d+"` + '\n',
    String.raw`1:6 "\d" is not an escape in double quotes (write "\\d", or use single quotes)`,
  ],
  [
    'an incomplete escape',
    String.raw`a: "\xz"` + '\n',
    String.raw`1:7 an incomplete escape in double quotes (write 2 digits after \x, 4 after \u, 8 after \U, or \\ for a backslash)`,
  ],
  ['text after |', 'a: | x\n', '1:6 text after | or > (begin the text on the next line, or put the value in quotes)'],
  ['two signs after |', 'a: |--\n', `1:6 invalid characters after | or > (${BLOCK})`],
  ['two widths after |', 'a: |12\n', `1:6 invalid characters after | or > (${BLOCK})`],
  ['a width of 0', 'a: |0\n', `1:5 invalid characters after | or > (${BLOCK})`],
  ['an anchor of an alias', 'a: &x 1\nb: &y *x\n', `2:7 ${MANY}`],
  ['two anchors', 'a: &x &y 1\n', `1:7 ${MANY}`],
  ['two tags', 'a: !!str !!int 1\n', `1:10 ${MANY}`],
  ['an unknown tag', 'a: !env HOME\n', `1:4 ${TAG}`],
  ['an unknown tag of a list', 'a: !env [1]\n', `1:4 ${TAG}`],
  ['an unknown tag of an object', 'a: !env { b: 1 }\n', `1:4 ${TAG}`],
  ['a tag that does not fit', 'a: !!int x\n', `1:4 ${TAG}`],
  ['a password with !', 'a: !pass!word\n', `1:14 ${TAG}`],
  ['a tag with brackets', 'a: !<x y> b\n', `1:10 ${TAG}`],
  ['a tag that does not end', 'a: !<x\n', `2:1 ${TAG}`],
  ['a line with %', '%a: b\nc: 1\n', `2:1 ${DIRECTIVE}`],
  ['a bare %', '% a\n---\nb: 1\n', `1:2 ${DIRECTIVE}`],
  ['two versions', '%YAML 1.2\n%YAML 1.2\n---\na: 1\n', `3:1 ${DIRECTIVE}`],
  ['another version', '%YAML 2.0\n---\na: 1\n', '2:1 an unknown version of YAML (write %YAML 1.2)'],
  [
    'a C1 control character',
    'a: x\u0085\u0090y\n',
    '1:6 a character that is not allowed (write it as an escape in double quotes)',
  ],
];

describe('yamlSyntaxProblem', () => {
  for (const [name, text, expected] of MISTAKES)
    it(`says what is wrong with ${name}`, () => {
      expect(problemOf(text)).to.equal(expected);
    });

  it('has a sentence for every message of the parser', () => {
    const parser = readFileSync(fileURLToPath(import.meta.resolve('js-yaml')), 'utf8');
    const from = parser.indexOf('function throwError(');
    const to = parser.indexOf('function parseEvents(');
    const reasons = [...parser.slice(from, to).matchAll(/throwError\(state, (["`])(.*?)\1\)/g)].map(
      ([, , text]) => text!,
    );
    expect(reasons).to.have.length.above(40);
    const text = 'a: b';
    const unknown = reasons.filter((reason) => {
      if (/^tab characters|^nesting exceeded|^can not read a document/.test(reason)) return false;
      return yamlSyntaxProblem({ reason, text, offset: 3 }).message.includes('not valid YAML');
    });
    expect(unknown).to.deep.equal([]);
  });

  it('quotes nothing of the text, which may be a secret', () => {
    for (const text of [
      'a: 1\nhunter2\n',
      'a: !hunter2 x\n',
      'a: "hunter2\nb: 1\n',
      'a: b: hunter2\n',
      'a: [hunter2\nb: 1\n',
    ])
      expect(problemOf(text)).not.to.contain('hunter2');
  });

  it('says that the document is not valid if the message of the parser is unknown', () => {
    expect(yamlSyntaxProblem({ reason: 'new in the next version', text: 'a', offset: 0 })).to.deep.equal({
      code: 'YAML_SYNTAX',
      offset: 0,
      message: 'the document is not valid YAML from here on',
    });
  });

  it('finds no opening quote in a large text, but says what may be missing', () => {
    const large = Array.from({ length: 10_000 }, (_, i) => `key-${i}: 1\n`).join('');
    expect(problemOf(`${large}a: "x\nb: 1\n`)).to.equal(
      '10002:1 a text in quotes, or a list or object in brackets, is not closed (add what is missing above, or indent this line deeper)',
    );
  });
});

import { expect } from 'chai';
import { parseAllDocuments } from 'yaml';
import { PARSE_CODES } from '../../src/resource/problem-codes.ts';
import { parseDocuments } from '../../src/parse/parse.ts';
import type { WrittenResource } from '../../src/source/source.ts';

const at = (written: WrittenResource | undefined, i = 0): string => {
  const issue = written!.issues[i]!;
  return `${issue.origin.line}:${issue.origin.column} ${issue.code}`;
};
const found = (text: string | Uint8Array, unit = 'a.yaml'): string[] =>
  parseDocuments(text, unit).flatMap((written) => written.issues.map((_, i) => at(written, i)));
const values = (text: string, unit = 'a.yaml'): unknown[] => parseDocuments(text, unit).map(({ value }) => value);

describe('parseDocuments', () => {
  it('reads several YAML documents with their positions', () => {
    const written = parseDocuments('# first\na: 1\n---\n# second\n\nb: [x, y]\n---\n---\n  c: {d: e}\n', 'dir/a.yaml');
    expect(written.map(({ value }) => value)).to.deep.equal([{ a: 1 }, { b: ['x', 'y'] }, { c: { d: 'e' } }]);
    expect(written.map(({ origin }) => `${origin.file}:${origin.line}:${origin.column}`)).to.deep.equal([
      'dir/a.yaml:2:1',
      'dir/a.yaml:6:1',
      'dir/a.yaml:9:3',
    ]);
    expect(written.every(({ unit, issues }) => unit === 'dir/a.yaml' && issues.length === 0)).to.equal(true);
  });

  it('reports positions of keys and values, and of the nearest parent of missing ones', () => {
    const text = 'x: 1\n---\nspec:\n  routes:\n    - name: "a"\n    - name: >\n        long\n  none:\n';
    const [, written] = parseDocuments(text, 'a.yaml');
    const place = (path: (string | number)[], on?: 'key' | 'value'): string => {
      const { line, column } = written!.locate(path, on);
      return `${line}:${column}`;
    };
    expect(place([])).to.equal('3:1');
    expect(place(['spec', 'routes'])).to.equal('4:3');
    expect(place(['spec', 'routes'], 'value')).to.equal('5:5');
    expect(place(['spec', 'routes', 0, 'name'], 'value')).to.equal('5:13');
    expect(place(['spec', 'routes', 1])).to.equal('6:7');
    expect(place(['spec', 'routes', 1, 'name'], 'value')).to.equal('6:13');
    expect(place(['spec', 'none'], 'value')).to.equal('8:3');
    expect(place(['spec', 'routes', 1, 'missing', 'deep'])).to.equal('6:7');
    expect(place(['elsewhere'])).to.equal('3:1');
  });

  it('reads JSON by the rules of JSON, with positions', () => {
    const [written] = parseDocuments('{\n\t"a": {"b": [1, true, null, "\\u00e9"]}\n}\n', 'a.json');
    expect(written!.value).to.deep.equal({ a: { b: [1, true, null, 'é'] } });
    expect(written!.locate(['a', 'b', 1])).to.include({ line: 2, column: 17 });
    expect(written!.locate(['a', 'b'])).to.include({ line: 2, column: 8 });
  });

  it('returns each item of a list as a separate resource, with its position', () => {
    const text = 'apiVersion: v1\nkind: List\nitems:\n- kind: A\n  spec: {x: 1}\n- 7\n- kind: B\n';
    const [first, second, third] = parseDocuments(text, 'a.yaml');
    expect([first!.value, third!.value]).to.deep.equal([{ kind: 'A', spec: { x: 1 } }, { kind: 'B' }]);
    expect(first!.origin).to.include({ line: 4, column: 3 });
    expect(first!.locate(['spec', 'x'])).to.include({ line: 5, column: 10 });
    expect(at(second)).to.equal('6:3 NOT_AN_OBJECT');
    expect(values('kind: UpstreamList\nitems:\n- kind: Upstream\n')).to.deep.equal([{ kind: 'Upstream' }]);
  });

  it('resolves aliases', () => {
    const [written] = parseDocuments('a: &x {b: [1]}\nc: *x\n', 'a.yaml');
    const value = written!.value as Record<string, { b: number[] }>;
    expect(value).to.deep.equal({ a: { b: [1] }, c: { b: [1] } });
    expect(value['a']).to.not.equal(value['c']);
    expect(written!.locate(['c', 'b', 0])).to.include({ line: 1, column: 12 });
  });

  const refusals: [string, string | Uint8Array, string[], string?][] = [
    ['a duplicate key', 'a: 1\nb:\n  c: 1\n  d: 2\n  c: 3\n', ['5:3 DUPLICATE_KEY']],
    ['every duplicate key', 'a: 1\na: 2\nb: {c: 1, "c": 2}\n', ['2:1 DUPLICATE_KEY', '3:11 DUPLICATE_KEY']],
    ['keys that are the same once read', '1: a\n"1": b\n', ['2:1 DUPLICATE_KEY']],
    ['a duplicate key in JSON', '{"a": 1,\n "a": 2}', ['2:2 DUPLICATE_KEY'], 'a.json'],
    ['tab indentation', 'a:\n\tb: 1\n', ['2:1 TAB_INDENTATION']],
    ['an unknown alias', 'a: *x\n', ['1:4 UNKNOWN_ALIAS']],
    ['an alias inside of its own anchor', 'a: &x\n  - *x\n', ['2:5 ALIAS_BOMB']],
    ['101 aliases', `a: &x 1\nb:\n${'- *x\n'.repeat(101)}`, ['103:3 ALIAS_BOMB']],
    ['merge keys', 'a: &x {b: 1}\nc:\n  <<: *x\n', ['3:3 MERGE_KEY']],
    ['a key that is a map', '{a: b}: c\n', ['1:1 KEY_NOT_TEXT']],
    ['a key that is an alias', '? &x a\n: 1\n? *x\n: 2\n', ['3:3 KEY_NOT_TEXT']],
    ['a byte order mark', '\ufeffa: 1\n', ['1:1 BYTE_ORDER_MARK']],
    ['a byte order mark within', '---\n\ufeffb: 1\n', ['2:1 BYTE_ORDER_MARK']],
    ['a byte order mark in JSON', '\ufeff{}', ['1:1 BYTE_ORDER_MARK'], 'a.json'],
    ['UTF-16', Buffer.from('\ufeffa: 1\n', 'utf16le'), ['1:1 INVALID_UTF8']],
    ['a NUL byte', 'a: 1\nb: x\0y\n', ['2:5 NUL_BYTE']],
    ['a bell', 'a: "\u0007"\n', ['1:5 CONTROL_CHARACTER']],
    ['an empty file', '', ['1:1 EMPTY_FILE']],
    ['a file of blanks', ' \n\n', ['1:1 EMPTY_FILE']],
    ['an empty JSON file', '', ['1:1 EMPTY_FILE'], 'a.json'],
    ['a text document', '# x\nhello\n', ['2:1 NOT_AN_OBJECT']],
    ['a list document', '---\n- a\n', ['2:1 NOT_AN_OBJECT']],
    ['a null document', 'null\n', ['1:1 NOT_AN_OBJECT']],
    ['a JSON list', '[1]', ['1:1 NOT_AN_OBJECT'], 'a.json'],
    ['nesting of 65', `a: ${'['.repeat(64)}${']'.repeat(64)}`, ['1:67 NESTING_TOO_DEEP']],
    ['nesting of 10,000 in JSON', `{"a": ${'['.repeat(1e4)}${']'.repeat(1e4)}}`, ['1:69 NESTING_TOO_DEEP'], 'a.json'],
    ['bytes that are no UTF-8', Buffer.from([0x61, 0x3a, 0x20, 0xc3, 0xa9, 0x0a, 0x62, 0xff]), ['2:2 INVALID_UTF8']],
    ['bytes after a real U+FFFD', Buffer.from([0xef, 0xbf, 0xbd, 0xff]), ['1:2 INVALID_UTF8']],
    ['a string that does not end', 'a: "x\n', ['1:4 YAML_SYNTAX']],
    ['a flow list that does not end', 'a: [1, 2\n', ['1:4 YAML_SYNTAX']],
    ['wrong indentation', 'a: 1\n b: 2\n', ['2:2 YAML_SYNTAX']],
    ['an unknown tag', 'a: !env HOME\n', ['1:4 YAML_SYNTAX']],
    ['a JavaScript tag', 'a: !!js/function "x"\n', ['1:4 YAML_SYNTAX']],
    ['YAML in a JSON file', 'a: 1', ['1:1 JSON_SYNTAX'], 'a.json'],
    ['a trailing comma in JSON', '{\n  "a": 1,\n}', ['3:1 JSON_SYNTAX'], 'a.json'],
    ['a comment in JSON', '{ // x\n}', ['1:3 JSON_SYNTAX'], 'a.json'],
    ['JSON that ends early', '{"a": [1', ['1:9 JSON_SYNTAX'], 'a.json'],
    ['a JSON string that does not end', '{"a": "x\n"}', ['1:7 JSON_SYNTAX'], 'a.json'],
    ['a wrong number in JSON', '{"a": 01}', ['1:7 JSON_SYNTAX'], 'a.json'],
    ['two JSON texts', '{} {}', ['1:4 JSON_SYNTAX'], 'a.json'],
  ];
  for (const [name, text, expected, unit] of refusals) {
    it(`rejects ${name} with its position`, () => {
      expect(found(text, unit)).to.deep.equal(expected);
      for (const issue of expected) expect(PARSE_CODES).to.have.property(issue.split(' ')[1]!);
      expect(parseDocuments(text, unit ?? 'a.yaml').every(({ value }) => value === undefined)).to.equal(true);
    });
  }

  it('names both positions of a duplicate key', () => {
    const [written] = parseDocuments('x: 1\n---\na: 1\na: 2\n', 'a.yaml').slice(1);
    expect(written!.issues[0]!.message).to.equal('duplicate key "a", first written at 3:1');
    expect(written!.issues[0]!.origin).to.deep.equal({ file: 'a.yaml', line: 4, column: 1 });
  });

  it('reports two resources in one document once', () => {
    const text = 'apiVersion: v1\nkind: A\nmetadata: { name: a }\nspec: { x: 1 }\n';
    const [written, ...others] = parseDocuments(`${text}${text.replace('x: 1', 'x: 1, x: 2')}`, 'a.yaml');
    expect(others).to.deep.equal([]);
    expect(written!.issues.map(({ origin, message, hint }) => [origin.line, message, hint])).to.deep.equal([
      [5, 'duplicate key "apiVersion", first written at 1:1', "is a '---' missing between two resources?"],
      [8, 'duplicate key "x", first written at 8:9', undefined],
    ]);
    const [json] = parseDocuments('{"kind": "A", "kind": "B"}', 'a.json');
    expect(json!.issues.map(({ message, hint }) => [message, hint])).to.deep.equal([
      ['duplicate key "kind", first written at 1:2', undefined],
    ]);
  });

  it('locates a problem inside a text of the second document, or at its key if ambiguous', () => {
    const [, written] = parseDocuments('x: 1\n---\n# b\na: |\n  one\n  two\nb: 5\n', 'a.yaml');
    expect(written!.locate(['a'], { line: 2, column: 1 })).to.deep.include({ line: 6 });
    expect(written!.locate(['b'], { line: 2, column: 1 })).to.deep.include({ line: 7, column: 1 });
  });

  it('rejects an alias bomb quickly', () => {
    const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]'];
    for (let i = 1; i <= 9; i++)
      lines.push(`a${i}: &a${i} [${Array.from({ length: 10 }, () => `*a${i - 1}`).join(', ')}]`);
    expect(found(lines.join('\n'))[0]).to.match(/^5:\d+ ALIAS_BOMB$/);
  });

  it('rejects input above the limit, and accepts input within', () => {
    const text = `a: ${'x'.repeat(5 * 1024 * 1024)}\n`;
    expect(found(text)).to.deep.equal([]);
    expect(parseDocuments('a: 12345\n', 'a.yaml', { maxFileBytes: 8 }).map((written) => at(written))).to.deep.equal([
      '1:1 FILE_TOO_LARGE',
    ]);
  });

  it('loses only the document that is broken', () => {
    const parts = ['a: 1', 'b: "x', 'c: {', 'd:\n\te: 1', 'f: 1\nf: 2', 'g: \0', 'h: 1'];
    const written = parseDocuments(parts.join('\n---\n'), 'a.yaml');
    expect(written.map(({ value }) => value)).to.deep.equal([{ a: 1 }, ...new Array(5).fill(undefined), { h: 1 }]);
    expect(written.map(({ issues }) => issues.length)).to.deep.equal([0, 1, 1, 1, 1, 1, 0]);
  });

  it('identifies the resource of a broken document', () => {
    const yaml = 'kind: Upstream\nmetadata:\n  labels: {name: no}\n  name: "u" # c\n  namespace: n\nspec: [\n';
    const json = '{\n  "kind": "Upstream",\n  "metadata": {\n    "name": "u",\n    "namespace": "n"\n  },\n  x\n}\n';
    const flow = 'kind: Upstream\nmetadata: {labels: {name: no}, name: "u", namespace: n} # c\nspec: [\n';
    for (const [text, unit] of [
      [yaml, 'a.yaml'],
      [flow, 'a.yaml'],
      [json, 'a.json'],
    ] as const) {
      const [written] = parseDocuments(text, unit);
      expect(written!.issues[0]).to.include({ kind: 'Upstream', namespace: 'n', name: 'u' });
    }
  });

  it('warns about a file with only comments', () => {
    const [written] = parseDocuments('# nothing\n---\n# more\n', 'a.yaml');
    expect(written!.value).to.equal(undefined);
    expect(written!.issues).to.have.length(1);
    expect(written!.issues[0]).to.include({ code: 'NO_DOCUMENT', severity: 'warning' });
  });

  it('keeps __proto__ and constructor as ordinary keys', () => {
    for (const [text, unit] of [
      ['__proto__: {polluted: true}\nconstructor: {prototype: 1}\na: &x {__proto__: {b: 1}}\nc: *x\n', 'a.yaml'],
      ['{"__proto__": {"polluted": true}, "constructor": {"prototype": 1}}', 'a.json'],
    ] as const) {
      const [written] = parseDocuments(text, unit);
      expect(Object.keys(written!.value as object)).to.include.members(['__proto__', 'constructor']);
      expect(Object.getPrototypeOf(written!.value)).to.equal(Object.prototype);
      expect(({} as { polluted?: boolean }).polluted).to.equal(undefined);
    }
  });

  it('accepts directives, end markers and Windows line endings', () => {
    expect(values('%YAML 1.2\n---\na: 1\n...\n# c\n%YAML 1.2\n---\nb: 2\n...\n')).to.deep.equal([{ a: 1 }, { b: 2 }]);
    expect(values('a: 1\r\n---\r\nb:\r\n  - c\r\n')).to.deep.equal([{ a: 1 }, { b: ['c'] }]);
    expect(values('a: |\n  x\n  --- y\nb: "---"\n')).to.deep.equal([{ a: 'x\n--- y\n', b: '---' }]);
  });

  it('locates documents in short and in long files alike', () => {
    const text = 'a: 1\r\n---\n\n# é\n  b: 2\n---\n- c\n';
    const origins = (padding: string) =>
      parseDocuments(`${text}#${padding}\n---\nd: [1`, 'a.yaml').map(({ origin, issues }) => [
        origin,
        ...issues.map((issue) => issue.origin),
      ]);
    const short = origins('');
    expect(short.map(([origin]) => [origin!.line, origin!.column])).to.deep.equal([
      [1, 1],
      [5, 3],
      [7, 1],
      [10, 1],
    ]);
    expect(origins('x'.repeat(10_000))).to.deep.equal(short);
  });

  it('treats alias and merge key characters in strings as text', () => {
    const [document] = parseDocuments(`a: {'<<': ['*', "&x", 'b << c', d*e]}`, 'a.yaml');
    expect(document!.issues).to.deep.equal([]);
    expect(document!.value).to.deep.equal({ a: { '<<': ['*', '&x', 'b << c', 'd*e'] } });
  });

  it('agrees with another YAML 1.2 reader', () => {
    const plain =
      `~ null Null true True TRUE yes no on 1 -1 +1 01 0x1F 0o17 1_000 1.5 -.5 1e3 1E-3 .inf -.Inf .nan 2001-01-01
      12:30:45 0.0.0.0 ::1 a:b a#b a,b -x ?x :x`.split(/\s+/);
    const quoted = ['"q\\t\\u00e9\\x41"', "'it''s'", '""', "''", '"a\n  b\n\n  c"', '', '# c'];
    const flow = ['[]', '{}', '[a, b, ]', '{a: [1, {b: 2}], "c": d}', '[a: b]', '{a, b: }'];
    const scalars = [...plain, ...quoted, ...flow];
    const blocks = [
      '|\n  a\n   b\n\n  c\n',
      '>\n  a\n  b\n\n  c\n',
      '|-\n  a\n',
      '>+\n  a\n\n',
      '|2\n    a\n',
      'a\n  b\n  c\n',
    ];
    const nested = [
      '\n  - a\n  -\n    - b\n  - c: d\n    e: f\n',
      '\n- a\n- b\n',
      '\n  ? a\n  : b\n',
      ' # c\n  x: y\n',
    ];
    for (const text of [...scalars, ...blocks, ...nested].map((value) => `key: ${value}\nafter: 1\n`)) {
      const [expected] = parseAllDocuments(text, { logLevel: 'silent' });
      expect(expected!.errors, text).to.deep.equal([]);
      expect(parseDocuments(text, 'a.yaml')[0]!.value, text).to.deep.equal(expected!.toJS());
    }
  });
});

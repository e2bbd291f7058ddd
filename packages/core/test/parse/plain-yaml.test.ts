import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import { constructFromEvents, parseEvents } from 'js-yaml';
import { layoutOf } from '../../src/parse/layout.ts';
import { readPlainYaml } from '../../src/parse/plain-yaml.ts';
import { splitDocuments } from '../../src/parse/split-documents.ts';
import { findUnprintable } from '../../src/parse/unprintable.ts';

const ROOT = new URL('../../../../', import.meta.url);
/** Mutated documents that are compared. */
const CASES = Number(process.env['PLAIN_YAML_CASES'] ?? 20_000);

const DOCUMENT = `# a comment
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata:
  name: default   # another one
  namespace: gw-system
  labels: {app.kubernetes.io/name: a, "quoted": 'b c', tier: "x\\ty"}
spec:
  virtualHost:
    domains: ['*', example.com, 10.0.0.1]

    routes:
    - matchers:
      - prefix: /api/v1
        methods: [GET, POST]
      routeAction:
        single:
          upstream: {name: echo, namespace: gw-system}
      options:
        timeout: 1.5s
        retries: {numRetries: 3, retryOn: 5xx}
        jwt:
          disable: true
    -   matchers: [{exact: /x#y, caseSensitive: false}, {
          regex: "a b\\u00e9"
        }]
        directResponseAction:
          status: 204
          body: http://example.com:80/a b # c
    empty:
    weight: -1.5e3
    hex: 0x1F
`;
const SEEDS = [
  DOCUMENT,
  '{"a": {"b": [1, true, null, "\\u00e9", -0.0, 1e3], "c": {}},\n "d": [],\n "e": "x: y # z"}\n',
  '---\na: 1\nb:\n- c: 1\n  d: 2\n- e\n-   f: [a, b,]\n    g: ~\n',
];

/** Returns what the complete parser reads: the value and its offset, or `undefined` if there is any problem. */
function readCompletely(text: string): { readonly value: unknown; readonly offset: number } | undefined {
  if (findUnprintable(text).length > 0) return undefined;
  try {
    const events = parseEvents(text, { maxDepth: 64 });
    if (layoutOf(events, text, String).problems.length > 0) return undefined;
    const first = events[1] as { readonly start?: number; readonly valueStart?: number };
    const values = constructFromEvents(events, { source: text, maxAliases: 100 });
    if (values.length !== 1) return undefined;
    return { value: values[0], offset: first.start ?? first.valueStart ?? 0 };
  } catch {
    return undefined;
  }
}

/** Returns the documents in which the two differ, and how many were read. */
function compare(text: string): { readonly differing: readonly string[]; readonly read: number } {
  const documents = splitDocuments(text).map(({ start, end }) => text.slice(start, end));
  const read = documents.flatMap((each) => {
    const plain = readPlainYaml(each);
    return plain ? [{ each, plain }] : [];
  });
  const differing = read.filter(({ each, plain }) => !isDeepStrictEqual(plain, readCompletely(each)));
  return { differing: differing.map(({ each }) => each), read: read.length };
}

/** A generator of numbers from 0 up to 1 with a fixed seed (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Separated by `;`, because most contain spaces. */
const LONG_PIECES =
  "  ;\n  ;\n- ;- ;: ; #;:\n;---\n;...\n;a: b;{a: 1};[x, y];<<: ;&a ;*a;!!str ;true;null;0x1f;1_0;-1;.5;+1;1e3;.inf;__proto__: ;'q'";
const PIECES = [
  ...' \n\t:-#"\'{}[],&*!|>%@`?~.\\/_a1=<\r\u00e9\ufeff\u0000\u0085\ud83d\uffff',
  ...LONG_PIECES.split(';'),
];

function mutated(text: string, random: () => number): string {
  let now = text;
  for (let changes = 1 + Math.floor(random() * 3); changes > 0; changes--) {
    const at = Math.floor(random() * (now.length + 1));
    const removed = random() < 0.5 ? Math.floor(random() * 4) : 0;
    const added = random() < 0.7 ? PIECES[Math.floor(random() * PIECES.length)]! : '';
    now = now.slice(0, at) + added + now.slice(at + removed);
  }
  return now;
}

describe('readPlainYaml', () => {
  it('reads what most resources consist of', () => {
    for (const seed of SEEDS) expect(readPlainYaml(seed)).to.deep.equal(readCompletely(seed));
    expect(readPlainYaml('# first\n\nkind: A\n')).to.deep.equal({ value: { kind: 'A' }, offset: 9 });
    expect(readPlainYaml('a:\n- x\n- y: 1\n  z: [2]\nb: c')?.value).to.deep.equal({
      a: ['x', { y: 1, z: [2] }],
      b: 'c',
    });
    const typed = 'a: 1\nb: 01\nc: 0o17\nd: 1.0\ne: "1"\nf: yes\ng: True\nh: ~\ni:\nj: 1h\nk: 127.0.0.1\n';
    expect(readPlainYaml(typed)?.value).to.deep.equal({
      a: 1,
      b: 1,
      c: 15,
      d: 1,
      e: '1',
      f: 'yes',
      g: true,
      h: null,
      i: null,
      j: '1h',
      k: '127.0.0.1',
    });
  });

  const LEFT = {
    'an empty document': '# nothing\n',
    'a scalar': 'text\n',
    'a list': '- a\n',
    'an anchor': 'a: &x b\n',
    'an alias': 'a: *x\n',
    'a tag': 'a: !!str b\n',
    'a block scalar': 'a: |\n  b\n',
    'a scalar on several lines': 'a: b\n  c\n',
    'a quoted scalar on several lines': 'a: "b\n  c"\n',
    'a doubled quote': "a: 'b''c'\n",
    'an escape that JSON does not have': 'a: "\\x41"\n',
    'a duplicate key': 'a: 1\na: 2\n',
    'a duplicate key in a flow map': 'a: {b: 1, b: 2}\n',
    'a merge key': '<<: {a: 1}\n',
    'a key that is not text': 'true: 1\n',
    'the key __proto__': '__proto__: 1\n',
    'a complex key': '? a\n: b\n',
    'a tab': 'a:\tb\n',
    'a carriage return': 'a: b\r\n',
    'a control character': 'a: b\u0001\n',
    'a byte order mark': '\ufeffa: b\n',
    'a character of another plane': 'a: \u{1f600}\n',
    'a missing space': 'a:b\n',
    'a colon in a scalar': 'a: b: c\n',
    'a deeper line after a value': 'a: b\n  c: d\n',
    'a line between two indentations': 'a:\n    b: 1\n  c: 2\n',
    'an unclosed flow map': 'a: {b: 1\n',
    'a flow map that ends too far left': 'a: {\n  b: 1\n}\n',
    'text after a flow map': 'a: {b: 1} c\n',
    'an empty value in a flow map': 'a: {b: }\n',
    'a pair in a flow list': 'a: [b: 1]\n',
    'a list in a list': 'a:\n- - b\n',
    'an item on the next line': 'a:\n-\n  b: 1\n',
    'deep nesting': `${'{"a": '.repeat(40)}1${'}'.repeat(40)}`,
    'a directive': '%YAML 1.2\n---\na: b\n',
    'text behind the marker': '--- a: b\n',
  };
  for (const [what, text] of Object.entries(LEFT)) {
    it(`leaves ${what} to the complete parser`, () => {
      expect(readPlainYaml(text)).to.equal(undefined);
    });
  }

  it('reads the same values as the complete parser in all files of this repository', async () => {
    let [documents, read] = [0, 0];
    for (const folder of ['apps', 'bench', 'deploy', 'docs', 'examples', 'packages', 'test']) {
      for await (const file of glob(`${folder}/**/*.{yaml,yml,json}`, { cwd: ROOT, exclude: ['**/node_modules/**'] })) {
        const text = readFileSync(new URL(file, ROOT), 'utf8');
        const compared = compare(text);
        expect(compared.differing, file).to.deep.equal([]);
        documents += splitDocuments(text).length;
        read += compared.read;
      }
    }
    expect(read).to.be.greaterThan(documents / 3);
  }).timeout(120_000);

  it(`reads the same values as the complete parser in ${CASES} mutated documents`, () => {
    const random = createRandom(Number(process.env['PLAIN_YAML_SEED'] ?? 1));
    let read = 0;
    for (let i = 0; i < CASES; i++) {
      const text = mutated(SEEDS[i % SEEDS.length]!, random);
      const compared = compare(text);
      expect(compared.differing).to.deep.equal([]);
      read += compared.read;
    }
    expect(read).to.be.greaterThan(CASES / 20);
  }).timeout(60_000 + CASES * 10);
});

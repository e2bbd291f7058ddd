import { expect } from 'chai';
import { GatewayError } from '../../src/errors.ts';
import { MAX_OUTPUT, type TemplateData } from '../../src/template/run.ts';
import { compileTemplate } from '../../src/template/template.ts';
import type { Value } from '../../src/template/value.ts';

/** The same numbers for the same seed. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const PARTS = [
  '{{', '}}', '{%', '%}', '{#', '#}', '##', '\n', ' ', '-', '(', ')', '[', ']', '{', '}', ',', '|', '.', '"', "'", '\\',
  'if', 'else', 'endif', 'for', 'endfor', 'set', 'in', 'and', 'or', 'not', '==', '<', '+', '*', '/', '%', '^', '=',
  'a', 'b', 'loop', 'loop.parent', 'x', '0', '1', '99', '1e9', '"t"', 'true', 'null', 'range', 'join', 'upper',
  'substring', 'base64_decode', 'word_count', 'default', 'exists', 'replace_with_random', 'header', 'sort', 'é', '\u0000',
]; // prettier-ignore

const EXPRESSIONS = [
  '1',
  '"text"',
  'a',
  'b',
  's',
  'range(50)',
  's + s',
  'a + 1',
  '[1,[2]]',
  '{"k":"v"}',
  'default(x, s)',
];
const CALLS = ['upper', 'word_count', 'sort', 'length', 'raw_string', 'base64_encode', 'first', 'isObject', 'range'];

const deep: Value = JSON.parse(`${'['.repeat(100)}1${']'.repeat(100)}`) as Value;
const data: TemplateData = {
  variable: (name) => ({ a: 7, b: deep, s: 'some text' })[name],
  header: (name) => name.repeat(3),
  requestHeader: () => '',
  extraction: () => '',
  env: () => '',
  dynamicMetadata: () => '',
  hostMetadata: () => '',
  clusterMetadata: () => '',
  body: () => '',
  context: () => deep,
};

/** Runs a template to its end and tells how it ended. */
function outcome(source: string): string {
  try {
    const text = compileTemplate(source).render(data);
    expect(text.length).to.be.at.most(MAX_OUTPUT);
    return 'rendered';
  } catch (error) {
    expect(error, JSON.stringify(source)).to.be.instanceOf(GatewayError);
    return (error as GatewayError).code;
  }
}

/** A template that parses, of nested statements. */
function grown(random: (below: number) => number, depth: number): string {
  const pick = (of: readonly string[]) => of[random(of.length)]!;
  const expression = () => (random(3) === 0 ? `${pick(CALLS)}(${pick(EXPRESSIONS)})` : pick(EXPRESSIONS));
  if (depth === 0) return `{{ ${expression()} }}`;
  const inner = () => grown(random, depth - 1);
  switch (random(5)) {
    case 0:
      return `{% for i in range(${random(60)}) %}${inner()}{% endfor %}`;
    case 1:
      return `{% set s = ${expression()} %}${inner()}`;
    case 2:
      return `{% if ${expression()} == ${expression()} %}${inner()}{% else %}${inner()}{% endif %}`;
    default:
      return inner() + inner();
  }
}

describe('random templates', () => {
  it('of language fragments terminate and throw only GatewayError', () => {
    const random = createRandom(7);
    const seen = new Set<string>();
    for (let round = 0; round < 20_000; round++) {
      const open = random(2) === 0 ? '{{ ' : '';
      const pieces = Array.from({ length: 1 + random(12) }, () => PARTS[random(PARTS.length)]);
      seen.add(outcome(open + pieces.join(random(2) === 0 ? ' ' : '') + (open && ' }}')));
    }
    expect([...seen]).to.include.members(['rendered', 'ERR_CORE_TEMPLATE', 'ERR_CORE_TEMPLATE_RENDER']);
  });

  it('of nested loops and growing strings terminate within the step limit and throw only GatewayError', () => {
    const random = createRandom(11);
    const seen = new Set<string>();
    for (let round = 0; round < 400; round++) seen.add(outcome(grown(random, 5)));
    expect([...seen]).to.include.members(['rendered', 'ERR_CORE_TEMPLATE_RENDER']);
    expect([...seen]).to.not.include('ERR_CORE_TEMPLATE');
  });

  it('of random characters terminate and throw only GatewayError', () => {
    const random = createRandom(13);
    for (let round = 0; round < 5000; round++) {
      const codes = Array.from({ length: random(40) }, () => (random(3) === 0 ? random(0x10000) : 0x20 + random(0x60)));
      outcome(String.fromCharCode(...codes));
      outcome(`{{${String.fromCharCode(...codes)}}}`);
    }
  });
});

import { factsOf, createContext } from '@edge-gateway/core';
import { expect } from 'chai';
import { execute, parse, validate } from 'graphql';
import { createApi } from '../../src/create-api.ts';
import { DEFAULT_LIMITS } from '../../src/document/limits.ts';
import { readSchema } from '../../src/schema/read-schema.ts';
import { createApiCounts } from '../../src/observe/statistics.ts';
import type { ApiResult } from '../../src/execute/executable-api.ts';
import type { Operation } from '../../src/document/documents.ts';

const SCHEMA = `
  interface Node { id: ID! }
  union Any = A | B
  type Query { a: A @resolve(name: "a") all: [Any] @resolve(name: "all") nodes: [Node!] @resolve(name: "all") strict: [B!]! @resolve(name: "bs") }
  type A implements Node { id: ID! name: String b: B list: [[Int!]] }
  type B implements Node { id: ID! must: String! a: A maybe: [B!] }
`;
const B = { __typename: 'B', id: '2', must: 'm', a: { __typename: 'A', id: '3', name: null }, maybe: [] };
const A = { __typename: 'A', id: '1', name: 'n', b: B, list: [[1, 2], [null, 1], null, []] };
const DATA: Record<string, unknown> = {
  a: A,
  all: [
    A,
    B,
    null,
    { __typename: 'B', id: '4', must: null, a: { ...A, b: { ...B, must: null } }, maybe: [B, { ...B, must: null }] },
  ],
  bs: [B, { ...B, must: null }],
};

/** Numbers that are the same in every run. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (state >>> 8) % below;
  };
}

const FIELDS: Record<string, [string, string | undefined][]> = {
  Query: [
    ['a', 'A'],
    ['all', 'Any'],
    ['nodes', 'Node'],
    ['strict', 'B'],
    ['__typename', undefined],
  ],
  A: [
    ['id', undefined],
    ['name', undefined],
    ['b', 'B'],
    ['list', undefined],
    ['__typename', undefined],
  ],
  B: [
    ['id', undefined],
    ['must', undefined],
    ['a', 'A'],
    ['maybe', 'B'],
    ['__typename', undefined],
  ],
  Node: [
    ['id', undefined],
    ['__typename', undefined],
  ],
  Any: [['__typename', undefined]],
};

function selection(type: string, depth: number, random: (below: number) => number): string {
  const parts: string[] = ['__typename'];
  for (let i = 0; i < 3; i++) {
    const condition = ['', '', '', ' @include(if: $yes)', ' @skip(if: $yes)', ' @include(if: false)'][random(6)]!;
    if (random(3) === 0 && depth > 0) {
      const on = type === 'Node' || type === 'Any' ? ['A', 'B', 'Node'][random(3)]! : type;
      parts.push(`... on ${on}${condition} { ${selection(on, depth - 1, random)} }`);
      continue;
    }
    const [name, inner] = FIELDS[type]![random(FIELDS[type]!.length)]!;
    if (inner && depth === 0) continue;
    const alias = inner === undefined && random(4) === 0 ? `x_${name}: ` : '';
    parts.push(`${alias}${name}${condition}${inner ? ` { ${selection(inner, depth - 1, random)} }` : ''}`);
  }
  return parts.join(' ');
}

describe('the executor', () => {
  const mock = (name: string) =>
    name === 'all'
      ? { mockResolver: { asyncResponse: { response: DATA[name], delay: '0s' } } }
      : { mockResolver: { syncResponse: DATA[name] } };
  const resolutions = { a: mock('a'), all: mock('all'), bs: mock('bs') };
  const context = createContext();
  const api = createApi(
    {
      ref: { name: 'x', namespace: 'default' },
      spec: { executableSchema: { schemaDefinition: SCHEMA, executor: { local: { resolutions } } } },
      limits: DEFAULT_LIMITS,
      counts: createApiCounts(context.metrics, 'x'),
    },
    context,
  );
  const { schema } = readSchema(SCHEMA);
  const rootValue = { a: DATA['a'], all: DATA['all'], nodes: DATA['all'], strict: DATA['bs'] };

  it('returns the same as the reference implementation, for 400 generated documents', async () => {
    let run = 0;
    for (let seed = 1; run < 400; seed++) {
      const random = numbers(seed * 7919);
      const text = `query ($yes: Boolean = false) { a { id } ${selection('Query', 3, random)} ${'x: __typename @include(if: $yes)'} }`;
      const document = parse(text);
      if (validate(schema, document).length > 0) continue;
      run++;
      const variables = [{ yes: true }, { yes: false }, {}][random(3)]!;
      const operation = { document, definition: document.definitions[0], text, name: undefined } as Operation;
      const facts = factsOf({ headers: {}, url: '/' } as never);
      const signal = new AbortController().signal;
      const own: ApiResult = await api.execute({ operation, variables, extensions: {}, facts, signal });
      const expected = JSON.parse(
        JSON.stringify(await execute({ schema, document, rootValue, variableValues: variables })),
      );
      expect(JSON.parse(JSON.stringify(own.data)), text).to.deep.equal(expected.data);
      const paths = (errors: readonly { path?: readonly (string | number)[] }[] = []) =>
        [...new Set(errors.map(({ path = [] }) => path.join('.')))].sort();
      expect(paths(expected.errors), text).to.include.members(paths(own.errors));
      expect(paths(own.errors).length > 0, text).to.equal(paths(expected.errors).length > 0);
    }
  });
});

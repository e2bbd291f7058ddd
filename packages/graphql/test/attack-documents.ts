/** The schema that the attacks are made for. */
export const SCHEMA = `
  type Query { node(id: ID): Node @resolve(name: "node") list(ids: [ID!]): [Node] @resolve(name: "list") }
  type Mutation { change: Node @resolve(name: "node") }
  type Node { id: ID name: String next: Node @resolve(name: "node") }
`;

/** How large each attack is made. */
export const SIZES = [1_000, 3_000, 10_000];
/** A text that is made so many times. */
export const times = (count: number, text: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => text(i)).join(' ');

/** Documents that ask for too much, by the attack. */
export const ATTACKS: Record<string, (size: number) => string> = {
  'alias flood': (n) => `{ ${times(n, (i) => `a${i}: node { id }`)} }`,
  'alias flood below a field': (n) => `{ node { ${times(n, (i) => `a${i}: id`)} } }`,
  'depth by nested fields': (n) => `{ ${'node { next {'.repeat(n / 2)} id ${'} }'.repeat(n / 2)} }`,
  'depth by fragments': (n) =>
    `{ ...f0 } ${times(n, (i) => `fragment f${i} on Query { ...f${i + 1} }`)} fragment f${n} on Query { node { id } }`,
  'fragments that double each other': (n) =>
    `{ node { ...f0 } } ${times(Math.min(n / 40, 40), (i) => `fragment f${i} on Node { next { ...f${i + 1} } n2: next { ...f${i + 1} } }`)} fragment f${Math.min(n / 40, 40)} on Node { id }`,
  'circular fragments': (n) =>
    `{ node { ...a } } fragment a on Node { ...b } fragment b on Node { ...a } # ${'x'.repeat(n)}`,
  'a fragment that spreads itself': (n) => `{ node { ...a } } fragment a on Node { next { ...a } } # ${'x'.repeat(n)}`,
  'field duplication': (n) => `{ node { ${'id '.repeat(n)} } }`,
  'known directives': (n) => `{ node { id ${'@include(if: true) '.repeat(n)} } }`,
  'unknown directives': (n) => `{ node { id ${'@nothing '.repeat(n)} } }`,
  '__typename flood': (n) => `{ ${'__typename '.repeat(n)} }`,
  'list arguments': (n) => `{ list(ids: [${times(n, (i) => `"${i}"`)}]) { id } }`,
  'deep list arguments': (n) => `{ list(ids: ${'['.repeat(n)}1${']'.repeat(n)}) { id } }`,
  'defer flood': (n) => `{ node { ${times(n, () => '... @defer { id }')} } }`,
  'stream flood': (n) => `{ ${times(n, (i) => `s${i}: list @stream { id }`)} }`,
  'root fields': (n) => times(1, () => `{ ${times(n, () => 'node { id }')} }`),
  'many operations': (n) => times(n, (i) => `query q${i} { node { id } }`),
  'variable definitions': (n) => `query (${times(n, (i) => `$v${i}: ID`)}) { node { id } }`,
  introspection: (n) => `{ __schema { types { ${'fields { type { fields { name } } } '.repeat(n / 1000)} } } }`,
  tokens: (n) => `{ ${'{ '.repeat(n)}`,
};

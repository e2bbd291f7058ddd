/** Lengths of the codes of all bytes and of the end (RFC 7541 appendix B). The codes are canonical, so that nothing else is needed. */
const CODE_LENGTHS = `
  13 23 28 28 28 28 28 28 28 24 30 28 28 30 28 28 28 28 28 28 28 28 30 28 28 28 28 28 28 28 28 28 6 10 10 12 13 6 8
  11 10 10 8 11 8 6 6 6 5 5 5 6 6 6 6 6 6 6 7 8 15 6 12 10 13 6 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 8 7 8 13
  19 13 14 6 15 5 6 5 6 5 6 6 6 5 7 7 6 6 6 5 6 7 6 5 5 6 7 7 7 7 7 15 11 14 13 28 20 22 20 20 22 22 22 23 22 23 23
  23 23 23 24 23 24 24 22 23 24 23 23 23 23 21 22 23 22 23 23 24 22 21 20 22 22 23 23 21 23 22 22 24 21 22 23 23 21
  21 22 21 23 22 23 23 20 22 22 22 23 22 22 23 26 26 20 19 22 23 22 25 26 26 26 27 27 26 24 25 19 21 26 27 27 26 27
  24 21 21 26 26 28 27 27 27 20 24 20 21 22 21 21 23 22 22 25 25 24 24 26 23 26 27 26 26 27 27 27 27 27 28 27 27 27
  27 27 26 30
`;

const END_SYMBOL = 256;
/** Bits of a transition: the next state, then the decoded byte, then these. */
const SYMBOL_SHIFT = 8;
const EMITS = 1 << 16;
const FAILS = 1 << 17;
/** Padding is at most seven bits, all of them 1. */
const MAX_PADDING = 7;

interface Machine {
  /** Transition for each state and four bits: `16 * state + bits`. */
  readonly transitions: Int32Array;
  /** 1 for each state that a string may end in. */
  readonly final: Uint8Array;
}

let machine: Machine | undefined;

/** Longest text that is decoded at once: eight bits are the least that a byte of an encoded string can hold, five those of a symbol. */
const scratchFor = (bytes: number): number => Math.ceil((bytes * 8) / 5);
let scratch = Buffer.allocUnsafeSlow(4096);

/** Decodes a string; returns `undefined` for an invalid one. */
export function decodeHuffman(bytes: Uint8Array, start: number, end: number): string | undefined {
  const { transitions, final } = (machine ??= createMachine());
  const longest = scratchFor(end - start);
  if (scratch.length < longest) scratch = Buffer.allocUnsafeSlow(longest);
  const text = scratch;
  let length = 0;
  let state = 0;
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!;
    const high = transitions[(state << 4) | (byte >> 4)]!;
    if (high & EMITS) text[length++] = high >> SYMBOL_SHIFT;
    const low = transitions[((high & 0xff) << 4) | (byte & 15)]!;
    if (low & EMITS) text[length++] = low >> SYMBOL_SHIFT;
    if ((high | low) & FAILS) return undefined;
    state = low & 0xff;
  }
  return final[state] === 1 ? text.toString('latin1', 0, length) : undefined;
}

/** A node of the tree of codes: its children are other nodes, or symbols as `~symbol`. */
type Node = [zero: number, one: number];

const MISSING = Number.MIN_SAFE_INTEGER;

function createMachine(): Machine {
  const nodes = createTree();
  const transitions = new Int32Array(nodes.length * 16);
  for (let state = 0; state < nodes.length; state++) {
    for (let bits = 0; bits < 16; bits++) transitions[16 * state + bits] = follow(nodes, state, bits);
  }
  const final = new Uint8Array(nodes.length);
  for (let state = 0, depth = 0; depth <= MAX_PADDING; state = nodes[state]![1], depth++) final[state] = 1;
  return { transitions, final };
}

function follow(nodes: readonly Node[], state: number, bits: number): number {
  let result = 0;
  let node = state;
  for (let bit = 3; bit >= 0; bit--) {
    const next = nodes[node]![(bits >> bit) & 1]!;
    if (next >= 0) node = next;
    else if (~next === END_SYMBOL) return FAILS;
    else {
      result = EMITS | (~next << SYMBOL_SHIFT);
      node = 0;
    }
  }
  return result | node;
}

function createTree(): Node[] {
  const lengths = CODE_LENGTHS.trim().split(/\s+/).map(Number);
  const order = lengths
    .map((_, symbol) => symbol)
    .toSorted((one, other) => lengths[one]! - lengths[other]! || one - other);
  const nodes: Node[] = [[MISSING, MISSING]];
  let code = 0;
  let length = lengths[order[0]!]!;
  for (const symbol of order) {
    code *= 2 ** (lengths[symbol]! - length);
    length = lengths[symbol]!;
    insert(nodes, code, length, symbol);
    code++;
  }
  return nodes;
}

function insert(nodes: Node[], code: number, length: number, symbol: number): void {
  let node = nodes[0]!;
  for (let bit = length - 1; bit > 0; bit--) {
    const side = (code >>> bit) & 1;
    if (node[side] === MISSING) node[side] = nodes.push([MISSING, MISSING]) - 1;
    node = nodes[node[side]!]!;
  }
  node[code & 1] = ~symbol;
}

import { STATIC_NAMES, STATIC_VALUES } from './static-table.ts';

/**
 * Sets the size of the dynamic table to 0 (RFC 7541 6.3): the encoder does not use it. Sent before the first field of a connection, it
 * answers any smaller table size that the peer sets.
 */
export const NO_TABLE = '\x20';

const INDEXED = 0x80;
const NEVER_INDEXED = 0x10;
/** Values that no later hop may put into a table either (RFC 7541 7.1.3). */
const SECRET: ReadonlySet<string> = new Set(['authorization', 'cookie', 'proxy-authorization', 'set-cookie']);
/** Names come from clients: only some, and no long ones, are remembered. */
const MAX_KNOWN_NAMES = 1000;
const MAX_KNOWN_LENGTH = 64;

const indexed = new Map<string, Map<string, string>>();
const nameIndexes = new Map<string, number>();
for (let i = 1; i < STATIC_NAMES.length; i++) {
  const name = STATIC_NAMES[i]!;
  if (!nameIndexes.has(name)) nameIndexes.set(name, i);
  if (STATIC_VALUES[i] === '') continue;
  if (!indexed.has(name)) indexed.set(name, new Map());
  indexed.get(name)!.set(STATIC_VALUES[i]!, String.fromCharCode(INDEXED | i));
}

/** Encoded names, with the first byte of a field. */
const names = new Map<string, string>();

/** Encodes a flat header list as a block, in latin1. Its strings have only characters up to U+00FF. */
export function encodeFields(fields: readonly string[]): string {
  let block = '';
  for (let i = 0; i < fields.length; i += 2) {
    const name = fields[i]!;
    const value = fields[i + 1]!;
    const entry = indexed.get(name)?.get(value);
    if (entry !== undefined) block += entry;
    else block += (names.get(name) ?? nameOf(name)) + lengthOf(value) + value;
  }
  return block;
}

function nameOf(name: string): string {
  const kind = SECRET.has(name) ? NEVER_INDEXED : 0;
  const index = nameIndexes.get(name);
  const encoded = index === undefined ? String.fromCharCode(kind) + lengthOf(name) + name : integer(index, 4, kind);
  if (names.size < MAX_KNOWN_NAMES && name.length <= MAX_KNOWN_LENGTH) names.set(name, encoded);
  return encoded;
}

/** The length of a string that is not compressed. */
function lengthOf({ length }: string): string {
  return length < 127 ? String.fromCharCode(length) : integer(length, 7, 0);
}

function integer(value: number, bits: number, first: number): string {
  const max = (1 << bits) - 1;
  if (value < max) return String.fromCharCode(first | value);
  let text = String.fromCharCode(first | max);
  let rest = value - max;
  for (; rest >= 128; rest = Math.floor(rest / 128)) text += String.fromCharCode((rest % 128) | 128);
  return text + String.fromCharCode(rest);
}

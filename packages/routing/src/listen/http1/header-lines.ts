import { FRAMING_HEADERS, isHeaderBytes, isHeaderName } from '@edge-gateway/core';

/** How a header affects the other lines of a head. */
type Effect = 'none' | 'date' | 'length' | 'unusual' | 'invalid';

export interface HeaderLines {
  readonly text: string;
  readonly hasDate: boolean;
}

/** Cache of names: most responses have the same few. */
const effects = new Map<string, Effect>();
const MAX_NAMES = 1_000;

/**
 * Returns the lines of headers, flat. Returns `undefined` if one is invalid, if `node:http` would not write it as it is, or if they do
 * not declare this length exactly once.
 */
export function headerLines(flat: readonly string[], length: number): HeaderLines | undefined {
  let text = '';
  let hasDate = false;
  let hasLength = false;
  for (let i = 0; i < flat.length; i += 2) {
    const name = flat[i]!;
    const value = flat[i + 1];
    const effect = effects.get(name) ?? classify(name);
    if (effect !== 'none') {
      if (effect === 'date') hasDate = true;
      else if (effect !== 'length' || hasLength || value !== String(length)) return undefined;
      else hasLength = true;
    }
    if (typeof value !== 'string' || !isHeaderBytes(value)) return undefined;
    text += `${name}: ${value}\r\n`;
  }
  return hasLength ? { text, hasDate } : undefined;
}

function classify(name: string): Effect {
  const effect = effectOf(name);
  // A copy, because a substring would keep the whole head in memory.
  if (effects.size < MAX_NAMES && effect !== 'invalid')
    effects.set(Buffer.from(name, 'latin1').toString('latin1'), effect);
  return effect;
}

function effectOf(name: string): Effect {
  if (typeof name !== 'string' || !isHeaderName(name)) return 'invalid';
  const lower = name.toLowerCase();
  if (lower === 'date') return 'date';
  if (lower === 'content-length') return 'length';
  // `node:http` may encode its value differently.
  if (lower === 'content-disposition' || lower === 'expect') return 'unusual';
  return FRAMING_HEADERS.has(lower) ? 'unusual' : 'none';
}

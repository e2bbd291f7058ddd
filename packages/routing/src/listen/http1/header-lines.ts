import { FRAMING_HEADERS, isHeaderBytes, isHeaderName } from '@edge-gateway/core';
import { copyText } from '../../http1/copy-text.ts';
import { cachedByName } from '../../http1/name-cache.ts';
import type { ResponseHead } from '../../http1/response-head.ts';

/** How a header affects the other lines of a head. */
type Effect = 'none' | 'date' | 'length' | 'unusual' | 'invalid';

export interface HeaderLines {
  readonly text: string;
  readonly hasDate: boolean;
}

/**
 * Returns the lines of headers, flat. Returns `undefined` if one is invalid, if `node:http` would not write it as it is, or if they do
 * not declare this length exactly once. `received` is the head that most of them come from: its lines are cached.
 */
export function headerLines(flat: readonly string[], length: number, received?: ResponseHead): HeaderLines | undefined {
  const known = received?.lines;
  let text = '';
  let hasDate = false;
  let hasLength = false;
  for (let i = 0; i < flat.length; i += 2) {
    const name = flat[i]!;
    const value = flat[i + 1];
    const isKnown = known !== undefined && received!.headers[i] === name && received!.headers[i + 1] === value;
    const cached = isKnown ? known[i] : undefined;
    if (cached !== undefined) {
      text += cached;
      continue;
    }
    const effect = effectOf(name);
    if (effect !== 'none') {
      if (effect === 'date') hasDate = true;
      else if (effect !== 'length' || hasLength || value !== String(length)) return undefined;
      else hasLength = true;
    }
    if (typeof value !== 'string' || !isHeaderBytes(value)) return undefined;
    const line = `${name}: ${value}\r\n`;
    if (isKnown && effect === 'none') known[i] = copyText(line);
    text += line;
  }
  return hasLength ? { text, hasDate } : undefined;
}

const effectOf = cachedByName((name): Effect => {
  if (typeof name !== 'string' || !isHeaderName(name)) return 'invalid';
  const lower = name.toLowerCase();
  if (lower === 'date') return 'date';
  if (lower === 'content-length') return 'length';
  // `node:http` may encode its value differently.
  if (lower === 'content-disposition' || lower === 'expect') return 'unusual';
  return FRAMING_HEADERS.has(lower) ? 'unusual' : 'none';
});

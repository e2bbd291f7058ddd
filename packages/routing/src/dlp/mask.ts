import { compileRegex, GatewayError, toByteString, type Span } from '@edge-gateway/core';
import type { Dlp } from '@edge-gateway/core/schema';
import { knownPatterns } from './known-patterns.ts';

type Action = NonNullable<Dlp['actions']>[number];

/** How the characters of a value are replaced. */
export interface MaskStyle {
  readonly char: string;
  /** Percent of the value to mask, from its start. */
  readonly percent: number;
}

/** Finds values in a text and knows how to mask them. */
export interface Mask extends MaskStyle {
  readonly name: string;
  /** Only counts what it finds. */
  readonly shadow: boolean;
  /** Longest value that is found if it arrives in two parts, in bytes. */
  readonly maxBytes: number;
  find(text: string): readonly Span[];
}

/** Longest value of a pattern of its own. */
const KNOWN_BYTES = 96;
/** Longest value of a custom expression. */
const CUSTOM_BYTES = 4096;
const DEFAULT_STYLE: MaskStyle = { char: 'X', percent: 75 };

/** Returns the style of an action. Throws `ERR_ROUTING_OPTION` if its mask is not one ASCII character. */
export function styleOf({ maskChar = '', percent }: NonNullable<Action['customAction']>): MaskStyle {
  const char = maskChar === '' ? DEFAULT_STYLE.char : maskChar;
  if (!/^[\x20-\x7e]$/.test(char)) {
    throw new GatewayError(`invalid maskChar ${JSON.stringify(char)}: one ASCII character is required`, {
      code: 'ERR_ROUTING_OPTION',
      status: 500,
    });
  }
  return { char, percent: percent?.value ?? DEFAULT_STYLE.percent };
}

/**
 * Compiles the patterns of an action; none for `KEYVALUE`, which masks by name. Texts are matched as bytes: each character of a text is
 * one byte of a UTF-8 value (latin1).
 */
export function compileMasks({ actionType = 'CUSTOM', customAction, shadow = false }: Action): readonly Mask[] {
  if (actionType === 'KEYVALUE') return [];
  if (actionType !== 'CUSTOM') {
    return knownPatterns(actionType).map((pattern): Mask => {
      const find = (text: string): Span[] =>
        Array.from(text.matchAll(pattern), ({ index, 0: { length } }) => ({ start: index, end: index + length }));
      return { ...DEFAULT_STYLE, name: actionType, shadow, maxBytes: KNOWN_BYTES, find };
    });
  }
  const style = styleOf(customAction ?? {});
  const older = (customAction?.regex ?? []).map((regex) => ({ regex, subgroup: 0 }));
  return [...older, ...(customAction?.regexActions ?? [])].map(({ regex = '', subgroup = 0 }): Mask => {
    const compiled = compileRegex(toByteString(regex));
    const find = (text: string): readonly Span[] => compiled.spans(text, subgroup);
    return { ...style, name: customAction?.name || actionType, shadow, maxBytes: CUSTOM_BYTES, find };
  });
}

/** Returns `text` with the values that a mask finds masked; the same length. `onFound` is called for each. */
export function applyMask(text: string, mask: Mask, onFound?: (span: Span) => void): string {
  const spans = mask.find(text);
  if (spans.length === 0) return text;
  let out = '';
  let at = 0;
  for (const { start, end } of spans) {
    if (end <= start) continue;
    onFound?.({ start, end });
    if (mask.shadow) continue;
    out += text.slice(at, start) + maskValue(text.slice(start, end), mask);
    at = end;
  }
  return out + text.slice(at);
}

/**
 * Masks a value: its first characters are replaced, except `-` between them. A UTF-8 sequence is never cut.
 *
 * @example
 * maskValue('123-45-6789', { char: 'X', percent: 75 }); // 'XXX-XX-X789'
 */
export function maskValue(value: string, { char, percent }: MaskStyle): string {
  let count = Math.round((value.length * percent) / 100);
  while (count > 0 && count < value.length && isContinuation(value, count)) count++;
  return value.slice(0, count).replaceAll(/[^-]/gs, char) + value.slice(count);
}

function isContinuation(bytes: string, at: number): boolean {
  return (bytes.charCodeAt(at) & 0xc0) === 0x80;
}

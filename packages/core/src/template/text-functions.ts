import { createHmac, randomBytes } from 'node:crypto';
import { textAt, type TemplateFunction } from './arguments.ts';
import { escaped, type Run } from './run.ts';
import { RenderError } from './template-error.ts';
import { isList, type Value } from './value.ts';

/** Functions on strings. Case changes only affect ASCII letters, because strings are bytes. */
export const TEXT_FUNCTIONS: Readonly<Record<string, TemplateFunction>> = {
  base64_decode: onText((text) => decode(text, /^[A-Za-z0-9+/]*={0,2}$/, 'base64')),
  base64_encode: onText((text) => Buffer.from(text, 'latin1').toString('base64')),
  base64url_decode: onText((text) => decode(text, /^[A-Za-z0-9_-]*={0,2}$/, 'base64url')),
  base64url_encode: onText((text) => Buffer.from(text, 'latin1').toString('base64url')),
  lower: onText((text) => text.replace(/[A-Z]+/g, (part) => part.toLowerCase())),
  raw_string: onText(escaped),
  replace_with_random: {
    args: [2, 2],
    call: (args, run) => replaceWithRandom(textAt(args, 0), textAt(args, 1), run),
  },
  substring: { args: [2, 3], call: (args, run) => run.text(substring(textAt(args, 0), args[1]!, args[2])) },
  url_encode: { args: [1, 1], call: ([value], run) => run.text(urlEncoded(scalarText(value!))) },
  upper: onText((text) => text.replace(/[a-z]+/g, (part) => part.toUpperCase())),
  word_count: { args: [1, 1], call: ([value], run) => wordCount(value!, run) },
};

function onText(change: (text: string) => string): TemplateFunction {
  return { args: [1, 1], call: (args, run) => run.text(change(run.text(textAt(args, 0)))) };
}

/** Invalid input results in an empty string. */
function decode(text: string, alphabet: RegExp, encoding: 'base64' | 'base64url'): string {
  if (!alphabet.test(text)) return '';
  const padding = text.indexOf('=');
  const digits = padding < 0 ? text : text.slice(0, padding);
  if (digits.length % 4 === 1) return '';
  const padded = encoding === 'base64' || digits.length !== text.length;
  if (padded && text.length % 4 !== 0) return '';
  return Buffer.from(text, encoding).toString('latin1');
}

function scalarText(value: Value): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const is = value === null ? 'null' : Array.isArray(value) ? 'a list' : 'an object';
  throw new RenderError(`a text, a number or a boolean is required, not ${is}`);
}

/** Escapes all bytes but the unreserved characters of RFC 3986. */
function urlEncoded(text: string): string {
  return text.replace(/[^-._~0-9A-Za-z]/g, (byte) => {
    return `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
  });
}

function substring(text: string, start: Value, length: Value | undefined): string {
  if (typeof start !== 'number' || !Number.isInteger(start) || start < 0 || start >= text.length) return '';
  if (length === undefined) return text.slice(start);
  if (typeof length !== 'number' || !Number.isInteger(length)) return '';
  return length <= 0 ? text.slice(start) : text.slice(start, start + length);
}

let randomKey: Buffer | undefined;

/** Returns the same random text for the same pattern during the lifetime of the process. */
function replaceWithRandom(text: string, pattern: string, run: Run): string {
  if (pattern === '') return run.text(text);
  randomKey ??= randomBytes(32);
  const bytes = createHmac('sha256', randomKey).update(pattern, 'latin1').digest().subarray(0, 16);
  const parts = run.text(text).split(pattern);
  run.spend(parts.length);
  return run.text(parts.join(bytes.toString('base64').replace(/=+$/, '')));
}

function wordCount(value: Value, run: Run): number {
  run.spend(1);
  if (typeof value === 'string')
    return run
      .text(value)
      .split(/[ \t\n\v\f\r]+/)
      .filter(Boolean).length;
  if (typeof value === 'number' || typeof value === 'boolean') return 1;
  if (value === null) return 0;
  if (isList(value)) return value.reduce<number>((sum, item) => sum + wordCount(item, run), 0);
  return Object.entries(value).reduce((sum, [key, item]) => sum + wordCount(key, run) + wordCount(item, run), 0);
}

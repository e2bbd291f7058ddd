import { LRUCache } from 'lru-cache';
import { RE2JS, RE2JSSyntaxException } from 're2js';
import { GatewayError } from '../errors.ts';

/** A range of a text, in UTF-16 units. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** An RE2 expression: it runs in linear time for any input. */
export interface Regex {
  readonly pattern: string;
  /** Whether it matches the whole input. */
  fullMatch(input: string): boolean;
  /** Whether it matches anywhere in the input. */
  test(input: string): boolean;
  /** Replaces every match; in `substitution`, `\1` is the first group, `\0` the match, `\\` a backslash. */
  replaceAll(input: string, substitution: string): string;
  /** Returns the full match and its groups, `undefined` for groups that did not participate. */
  fullGroups(input: string): readonly (string | undefined)[] | undefined;
  /** Returns the range of a group in each match, in order; those where it did not participate are left out. */
  spans(input: string, group: number): readonly Span[];
  /** Returns the range of a group of a full match; `undefined` without a match, or if the group did not participate. */
  fullSpan(input: string, group: number): Span | undefined;
  readonly groupCount: number;
  /** Program size in instructions. */
  readonly programSize: number;
}

/** The error of an invalid expression; `offset` starts at 0 within the pattern. */
export class RegexError extends GatewayError {
  override readonly name = 'RegexError';
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message, { code: 'ERR_CORE_REGEX' });
    this.offset = offset;
  }
}

/** Maximum length of an expression, in characters: compiling a longer one would hold up requests for seconds. */
const MAX_LENGTH = 65_536;
const CACHE_SIZE = 10_000;
const cache = new LRUCache<string, Regex>({ max: CACHE_SIZE });

/**
 * Compiles an RE2 expression. Returns the same object for the same pattern while it is among the 10,000 last used.
 * Throws {@link RegexError} (`ERR_CORE_REGEX`) if it is not RE2 or larger than `maxProgramSize` instructions
 * (default: no limit).
 *
 * @example
 * compileRegex('/api/(v[0-9]+)/.*').fullMatch('/api/v1/pets'); // true
 */
export function compileRegex(pattern: string, { maxProgramSize }: { maxProgramSize?: number } = {}): Regex {
  const known = cache.get(pattern);
  const compiled = known ?? compile(pattern);
  if (!known) cache.set(pattern, compiled);
  if (maxProgramSize !== undefined && compiled.programSize > maxProgramSize) {
    throw new RegexError(`it compiles to ${compiled.programSize} instructions, more than ${maxProgramSize}`, 0);
  }
  return compiled;
}

function compile(pattern: string): Regex {
  if (pattern.length > MAX_LENGTH) {
    throw new RegexError(`it has ${pattern.length} characters, more than ${MAX_LENGTH}`, 0);
  }
  let re2: RE2JS;
  try {
    re2 = RE2JS.compile(pattern);
  } catch (error) {
    throw toRegexError(error, pattern);
  }
  return new CompiledRegex(pattern, re2);
}

class CompiledRegex implements Regex {
  readonly pattern: string;
  readonly groupCount: number;
  readonly #re2: RE2JS;

  constructor(pattern: string, re2: RE2JS) {
    this.pattern = pattern;
    this.groupCount = re2.groupCount();
    this.#re2 = re2;
  }

  get programSize(): number {
    return this.#re2.programSize();
  }

  fullMatch(input: string): boolean {
    return this.#re2.testExact(input);
  }

  test(input: string): boolean {
    return this.#re2.test(input);
  }

  fullGroups(input: string): readonly (string | undefined)[] | undefined {
    const matcher = this.#re2.matcher(input);
    if (!matcher.matches()) return undefined;
    return Array.from({ length: this.groupCount + 1 }, (_, i) => matcher.group(i) ?? undefined);
  }

  fullSpan(input: string, group: number): Span | undefined {
    const matcher = this.#re2.matcher(input);
    if (group > this.groupCount || !matcher.matches()) return undefined;
    const start = matcher.start(group);
    return start < 0 ? undefined : { start, end: matcher.end(group) };
  }

  spans(input: string, group: number): readonly Span[] {
    const matcher = this.#re2.matcher(input);
    const spans: Span[] = [];
    if (group > this.groupCount) return spans;
    while (matcher.find()) {
      const start = matcher.start(group);
      if (start >= 0) spans.push({ start, end: matcher.end(group) });
    }
    return spans;
  }

  replaceAll(input: string, substitution: string): string {
    const parts = readSubstitution(substitution);
    const matcher = this.#re2.matcher(input);
    let out = '';
    let at = 0;
    while (matcher.find()) {
      out += input.slice(at, matcher.start());
      for (const part of parts) {
        if (typeof part === 'string') out += part;
        else if (part <= this.groupCount) out += matcher.group(part) ?? '';
      }
      at = matcher.end();
    }
    return out + input.slice(at);
  }
}

const substitutions = new LRUCache<string, readonly (string | number)[]>({ max: CACHE_SIZE });

/** Literal text and group numbers of a substitution such as `/v2/\1`. */
export function readSubstitution(text: string): readonly (string | number)[] {
  const known = substitutions.get(text);
  if (known) return known;
  const parts = text.split(/(\\[\d\\])/).map((part) => {
    if (!/^\\[\d\\]$/.test(part)) return part;
    return part === '\\\\' ? '\\' : Number(part[1]);
  });
  substitutions.set(text, parts);
  return parts;
}

function toRegexError(error: unknown, pattern: string): RegexError {
  if (!(error instanceof RE2JSSyntaxException)) {
    return new RegexError(error instanceof Error ? error.message : String(error), 0);
  }
  const problem = error.getDescription();
  const part = error.getPattern();
  const offset =
    part === null ? pattern.length - 1 : part === pattern ? unbalanced(pattern) : pattern.lastIndexOf(part);
  return new RegexError(part === null || part === pattern ? problem : `${problem}: ${part}`, Math.max(0, offset));
}

/** Returns the offset of the unmatched parenthesis; 0 if there is none. */
function unbalanced(pattern: string): number {
  const open: number[] = [];
  let inClass = false;
  for (let i = 0; i < pattern.length; i++) {
    const char = pattern[i];
    if (char === '\\') i++;
    else if (inClass) inClass = char !== ']';
    else if (char === '[') inClass = true;
    else if (char === '(') open.push(i);
    else if (char === ')' && open.pop() === undefined) return i;
  }
  return open.at(-1) ?? 0;
}

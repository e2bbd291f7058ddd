import { EVENT_ID, parseEvents, SCALAR_STYLE, type Event } from 'js-yaml';
import type { TextProblem } from './source-text.ts';

/** What the YAML parser found in the text of one document. */
interface Found {
  /** The message of the parser. */
  readonly reason: string;
  readonly text: string;
  readonly offset: number;
}

/** A problem in plain words. It never quotes more than one character of the text, which may be a secret. */
type Sentence = Pick<TextProblem, 'message' | 'hint'> & { readonly offset?: number };

/** Larger texts are not parsed again to find an opening quote or bracket. */
const MAX_REPARSED = 65_536;

/** Returns the syntax problem that the YAML parser found: what is wrong, and what to write instead. */
export function yamlSyntaxProblem(found: Found): TextProblem {
  const [, sentence] = SENTENCES.find(([pattern]) => pattern.test(found.reason)) ?? [undefined, UNKNOWN];
  const described = typeof sentence === 'function' ? sentence(found) : sentence;
  return { code: 'YAML_SYNTAX', offset: found.offset, ...described };
}

const KEY_AND_VALUE = 'write "key: value", with a space after the colon';
const QUOTE_VALUE = 'put the value in quotes';
const UNKNOWN: Sentence = { message: 'the document is not valid YAML from here on' };
const WITHOUT_COLON: Sentence = { message: 'this line is not a key with a value', hint: KEY_AND_VALUE };
const ESCAPED = 'write it as an escape in double quotes';

/** By the message of the parser. Its parts are in the order of the parser's source. */
const SENTENCES: readonly (readonly [pattern: RegExp, sentence: Sentence | ((found: Found) => Sentence)])[] = [
  [/^bad indentation of a mapping entry/, describeEntry],
  [
    /^bad indentation of a sequence entry/,
    { message: 'wrong indentation of a list item', hint: 'begin all items of a list in the same column' },
  ],
  [/^deficient indentation|^unexpected end of the (?:stream|document) within a (?!verbatim)/, describeOpen],
  [/^missed comma/, describeMissingComma],
  [
    /^expected the node content, but found ','/,
    { message: 'a comma without an entry before it', hint: 'remove the comma' },
  ],
  [/multiline key/, ({ text, offset }) => ({ ...WITHOUT_COLON, offset: lastContentBefore(text, offset) })],
  [
    /^expected ':' after a mapping key/,
    ({ text, offset }) => ({ ...WITHOUT_COLON, offset: contentStart(text, offset) }),
  ],
  [/^a whitespace character is expected after/, { message: 'no space after the colon', hint: KEY_AND_VALUE }],
  [/^end of the stream or a document separator/, describeRest],
  [/^unknown escape sequence/, describeEscape],
  [
    /^expected hexadecimal character/,
    {
      message: 'an incomplete escape in double quotes',
      hint: String.raw`write 2 digits after \x, 4 after \u, 8 after \U, or \\ for a backslash`,
    },
  ],
  [
    /^a line break is expected/,
    { message: 'text after | or >', hint: 'begin the text on the next line, or put the value in quotes' },
  ],
  [
    /^repeat of (?:a chomping|an indentation)|^bad explicit indentation width/,
    { message: 'invalid characters after | or >', hint: 'write |, |- or |+, and the text on the next line' },
  ],
  [/^name of an a(?:lias|nchor) node/, ({ text, offset }) => ({ ...unquoted(text[offset - 1]!), offset: offset - 1 })],
  [
    /^alias node should not have|^duplication of (?:an anchor|a tag) property/,
    {
      message: 'more than one tag, anchor or alias in front of a value',
      hint: 'keep one, or put the value in quotes',
    },
  ],
  [
    /directive/i,
    { message: 'an invalid directive', hint: 'a line that begins with "%" is a directive: put the value in quotes' },
  ],
  [/^unacceptable YAML version/, { message: 'an unknown version of YAML', hint: 'write %YAML 1.2' }],
  [
    /^there is a previously declared suffix/,
    { message: 'a tag handle is declared twice', hint: 'remove one %TAG line' },
  ],
  [
    /\btag\b/,
    {
      message: 'an unknown or invalid tag',
      hint: 'remove it, or put the value in quotes if it begins with "!"',
    },
  ],
  [/non-printable|valid JSON character|null byte/, { message: 'a character that is not allowed', hint: ESCAPED }],
];

/** Text where the next key of an object should begin. */
function describeEntry({ text, offset }: Found): Sentence {
  const before = text.slice(lineStart(text, offset), offset);
  const sign = text[offset] ?? '';
  if (isReserved(before, sign)) return unquoted(sign);
  const own = withoutDashes(before);
  if (!/: |^["'[{]/.test(own)) {
    const above = lastContentBefore(text, offset);
    if (isBareText(text, above, contentStart(text, offset))) return { ...WITHOUT_COLON, offset: above };
    const hint = 'begin all keys of an object in the same column, deeper than the key above them';
    return { message: 'wrong indentation', hint, offset: contentStart(text, offset) };
  }
  if (sign === ':') {
    const hint = 'put the value in quotes, or the inner key on a line of its own';
    return { message: 'a second ": " in one line', hint };
  }
  return describeTextAfter(own);
}

/** Text after a value that ends with a quote or a bracket. */
function describeTextAfter(value: string): Sentence {
  const quote = /^(?:[^"'[{]*: +)?(["'])/.exec(value)?.[1];
  const inside = quote && `, and write ${quote === '"' ? String.raw`\"` : "''"} for a ${quote} in it`;
  return { message: 'text after the end of a value', hint: `put the whole value in quotes${inside ?? ''}` };
}

/** Returns true for a line without colon and dash whose content begins in the same column as another line. */
function isBareText(text: string, start: number, other: number): boolean {
  const isBeside = start - lineStart(text, start) === other - lineStart(text, other);
  return isBeside && /^[^-:#"'[{\n][^:\n]*\n/.test(text.slice(start));
}

const withoutDashes = (line: string): string => line.replace(/^ *(?:- +)*/, '');

/** Returns true for a value that begins with a sign that YAML reserves. */
function isReserved(before: string, sign: string): boolean {
  return /(?:^|: +|- +)$/.test(before) && /[@`%,\]}|>]/.test(sign);
}

function unquoted(sign: string): Sentence {
  return { message: `a value must not begin with ${JSON.stringify(sign)} outside of quotes`, hint: QUOTE_VALUE };
}

/** The rest of a text, after the document has ended for the parser. */
function describeRest({ text, offset }: Found): Sentence {
  const sign = text[offset] ?? '';
  const before = text.slice(lineStart(text, offset), offset);
  if (isReserved(before, sign)) return unquoted(sign);
  if (sign === ':' && contentStart(text, offset) < offset)
    return { ...WITHOUT_COLON, offset: lastContentBefore(text, offset) };
  if (before.trim() !== '') return describeTextAfter(withoutDashes(before));
  const hint = 'indent it like the lines above, or begin another document with ---';
  return { message: 'this line does not belong to the list or object above', hint };
}

function describeMissingComma({ text, offset }: Found): Sentence {
  const sign = text[offset] ?? '';
  if (sign === ']' || sign === '}') {
    const other = sign === ']' ? '}' : ']';
    const what = sign === ']' ? 'an object' : 'a list';
    return { message: `${what} must end with "${other}", not with "${sign}"`, hint: `write "${other}"` };
  }
  const hint = 'write [1, 2] or { a: 1, b: 2 }; put text with brackets, commas or ": " in quotes';
  return { message: 'no comma between two entries', hint };
}

function describeEscape({ text, offset }: Found): Sentence {
  const escape = `\\${text[offset] ?? ''}`;
  return {
    message: `"${escape}" is not an escape in double quotes`,
    hint: `write "\\${escape}", or use single quotes`,
  };
}

const CLOSERS = ['"', "'", ']', '}', '}]', ']}', '"]', "']", '"}', "'}", '"}]', "'}]"];

/** What each closer ends, in full and in short. */
const OPEN: Readonly<Record<string, readonly [string, string]>> = {
  '"': ['a text in double quotes', 'text'],
  "'": ['a text in single quotes', 'text'],
  ']': ['a list', 'list'],
  '}': ['an object', 'object'],
};

/** A text in quotes or a list or object in brackets that does not end: its position is where it begins. */
function describeOpen({ text, offset }: Found): Sentence {
  const part = text.slice(0, offset).trimEnd();
  if (part.length <= MAX_REPARSED)
    for (const closers of CLOSERS) {
      const begin = beginOf(part, closers);
      if (begin === undefined) continue;
      const closer = closers[0]!;
      const [what, rest] = OPEN[closer]!;
      const hint = `add the closing ${closer}, or indent the rest of the ${rest} deeper`;
      return { message: `${what} is not closed`, hint, offset: begin };
    }
  const message = 'a text in quotes, or a list or object in brackets, is not closed';
  return { message, hint: 'add what is missing above, or indent this line deeper' };
}

/** Returns the offset of what the first of the closers closes; `undefined` if the text is not valid with them. */
function beginOf(text: string, closers: string): number | undefined {
  let events: Event[];
  try {
    events = parseEvents(text + closers, {});
  } catch {
    return undefined;
  }
  const style = { '"': SCALAR_STYLE.DOUBLE_QUOTED, "'": SCALAR_STYLE.SINGLE_QUOTED }[closers[0]!];
  if (style !== undefined) {
    const last = events.findLast((event) => event.type === EVENT_ID.SCALAR && event.style === style);
    return last?.type === EVENT_ID.SCALAR ? last.valueStart - 1 : undefined;
  }
  return closedInOrder(events, text).at(-closers.length);
}

/** Returns the offsets of all lists and objects in brackets, in the order of their ends. */
function closedInOrder(events: readonly Event[], text: string): number[] {
  const open: (number | undefined)[] = [];
  const closed: number[] = [];
  for (const event of events) {
    if (event.type === EVENT_ID.POP) {
      const start = open.pop();
      if (start !== undefined) closed.push(start);
    } else if (event.type === EVENT_ID.SEQUENCE || event.type === EVENT_ID.MAPPING) {
      // A pair in a list, such as [a: 1], is an object without brackets.
      open.push('[{'.includes(text[event.start] ?? ' ') ? event.start : undefined);
    }
  }
  return closed;
}

function lineStart(text: string, offset: number): number {
  return text.lastIndexOf('\n', offset - 1) + 1;
}

/** Returns the offset of the first character of a line that is not a space. */
function contentStart(text: string, offset: number): number {
  const start = lineStart(text, offset);
  return start + /^ */.exec(text.slice(start, offset))![0].length;
}

/** Returns the same for the last line above that has content. */
function lastContentBefore(text: string, offset: number): number {
  const above = text.slice(0, lineStart(text, offset)).trimEnd();
  return contentStart(text, above.length);
}

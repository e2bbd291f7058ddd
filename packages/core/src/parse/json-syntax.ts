import type { TextProblem } from './source-text.ts';

const SIGN = String.raw`([{}[\],:])`;
const STRING = String.raw`("(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*")`;
const LITERAL = String.raw`(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.])|true\b|false\b|null\b)`;
const TOKEN = new RegExp(String.raw`[ \t\r\n]*(?:${SIGN}|${STRING}|${LITERAL})`, 'y');

type State = 'value' | 'value or ]' | 'key' | 'key or }' | ':' | ', or end';

/** Finds the position of a JSON syntax error: the built-in parser does not always report it. */
export function findJsonProblem(text: string): TextProblem {
  try {
    return scan(text);
  } catch {
    // The pattern fails for strings of many megabytes.
    return { code: 'JSON_SYNTAX', offset: 0, message: 'the text is not valid JSON' };
  }
}

function scan(text: string): TextProblem {
  const open: ('{' | '[')[] = [];
  let state: State = 'value';
  for (TOKEN.lastIndex = 0; ;) {
    const from = TOKEN.lastIndex;
    const [, sign, string, literal] = TOKEN.exec(text) ?? [];
    const next = step(state, { sign, string, literal }, open);
    if (!next) return problemAt(text, from, state);
    state = next;
  }
}

interface Token {
  readonly sign: string | undefined;
  readonly string: string | undefined;
  readonly literal: string | undefined;
}

/** Returns the state after a token, and updates the list of open brackets; `undefined` if the token is unexpected. */
function step(state: State, { sign, string, literal }: Token, open: ('{' | '[')[]): State | undefined {
  if (state.startsWith('value')) {
    if (string !== undefined || literal !== undefined) return ', or end';
    if (sign === '{' || sign === '[') {
      open.push(sign);
      return sign === '{' ? 'key or }' : 'value or ]';
    }
    return state === 'value or ]' && sign === ']' ? closed(open) : undefined;
  }
  if (state === ':') return sign === ':' ? 'value' : undefined;
  if (state.startsWith('key')) {
    if (string !== undefined) return ':';
    return state === 'key or }' && sign === '}' ? closed(open) : undefined;
  }
  const inside = open.at(-1);
  if (sign === ',' && inside) return inside === '{' ? 'key' : 'value';
  return inside && sign === (inside === '{' ? '}' : ']') ? closed(open) : undefined;
}

function closed(open: ('{' | '[')[]): State {
  open.pop();
  return ', or end';
}

function problemAt(text: string, from: number, state: State): TextProblem {
  let offset = from;
  while (offset < text.length && ' \t\r\n'.includes(text[offset]!)) offset++;
  const code = 'JSON_SYNTAX';
  const hint = `expected ${state === ', or end' ? 'a comma or the end' : state.replace('key', 'a key in quotes')}`;
  if (offset >= text.length) return { code, offset, message: 'the JSON text ends too early', hint };
  if (text[offset] === '"') return { code, offset, message: 'an unterminated string or an invalid escape', hint };
  if (text.startsWith('//', offset) || text.startsWith('/*', offset) || text[offset] === '#')
    return { code, offset, message: 'JSON has no comments', hint: 'use a .yaml file' };
  return { code, offset, message: `unexpected ${JSON.stringify(text[offset])}`, hint };
}

import { TemplateError } from './template-error.ts';

/** A token of an expression or statement. */
export interface Token {
  readonly kind: 'name' | 'text' | 'number' | 'operator' | 'end';
  /** The text as written; for strings the content. */
  readonly text: string;
  /** Offset in the template. */
  readonly at: number;
}

/** The tokens of one `{{ }}`, `{% %}` or `##` line. */
export interface Body {
  readonly tokens: readonly Token[];
  /** Offset after the closing delimiter. */
  readonly end: number;
  /** True if the closing delimiter trims the white space after it. */
  readonly cutsAfter: boolean;
}

const NAME = /[A-Za-z_][A-Za-z0-9_./-]*/y;
const NUMBER = /\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const OPERATOR = /==|!=|<=|>=|[-+*/%^<>()[\]{},:|=]/y;
const TEXT = /"(?:[^"\\]|\\[^])*"|'(?:[^'\\]|\\[^])*'/y;

/** Reads tokens from `from` up to the delimiter `close`; a line break closes a line statement. */
export function readBody(source: string, from: number, close: '}}' | '%}' | '\n'): Body {
  const tokens: Token[] = [];
  let braces = 0;
  let at = from;
  for (;;) {
    at = skipSpace(source, at, close === '\n');
    const length = braces === 0 ? closeLength(source, at, close) : 0;
    if (length > 0 || (close === '\n' && at >= source.length)) {
      tokens.push({ kind: 'end', text: '', at });
      return { tokens, end: at + length, cutsAfter: length === 3 };
    }
    if (at >= source.length) throw new TemplateError(`${close === '}}' ? '{{' : '{%'} is not closed`, source, from - 2);
    const token = readToken(source, at, close);
    if (token.text === '{' && token.kind === 'operator') braces++;
    if (token.text === '}' && token.kind === 'operator') braces--;
    tokens.push(token);
    at += token.width;
  }
}

function closeLength(source: string, at: number, close: string): number {
  if (source.startsWith(close, at)) return close.length;
  return close !== '\n' && source.startsWith(`-${close}`, at) ? 3 : 0;
}

function skipSpace(source: string, from: number, oneLine: boolean): number {
  let at = from;
  while (at < source.length) {
    const char = source[at]!;
    const isSpace = char === ' ' || char === '\t' || char === '\r' || (char === '\n' && !oneLine);
    if (!isSpace) break;
    at++;
  }
  return at;
}

function readToken(source: string, at: number, close: string): Token & { readonly width: number } {
  const written = (kind: Token['kind'], found: string) => ({ kind, text: found, at, width: found.length });
  const name = match(NAME, source, at);
  // A minus before the closing delimiter belongs to the delimiter.
  if (name?.endsWith('-') && source.startsWith(close, at + name.length)) return written('name', name.slice(0, -1));
  if (name !== undefined) return written('name', name);
  const number = match(NUMBER, source, at);
  if (number !== undefined) return written('number', number);
  const text = match(TEXT, source, at);
  if (text !== undefined) return { kind: 'text', text: contentOf(text, source, at), at, width: text.length };
  const operator = match(OPERATOR, source, at);
  if (operator !== undefined) return written('operator', operator);
  const char = source[at]!;
  const problem = char === '"' || char === "'" ? 'the text is not closed' : `'${char}' is not expected here`;
  throw new TemplateError(problem, source, at);
}

function match(expression: RegExp, source: string, at: number): string | undefined {
  expression.lastIndex = at;
  return expression.exec(source)?.[0];
}

/** Unescapes as JSON does. */
function contentOf(written: string, source: string, at: number): string {
  const inner = written.slice(1, -1);
  if (!inner.includes('\\')) return inner;
  return inner.replace(/\\(u[0-9a-fA-F]{4}|[^])/g, (escape, code: string, offset: number) => {
    const plain = ESCAPES[code];
    if (plain !== undefined) return plain;
    if (code.length === 5) return String.fromCharCode(parseInt(code.slice(1), 16));
    throw new TemplateError(`${escape} is not an escape`, source, at + 1 + offset);
  });
}

const ESCAPES: Readonly<Record<string, string | undefined>> = Object.assign(Object.create(null), {
  '"': '"',
  "'": "'",
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
});

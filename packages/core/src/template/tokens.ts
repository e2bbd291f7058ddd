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

const PATTERNS = [
  ['name', /[A-Za-z_][A-Za-z0-9_./-]*/y],
  ['number', /\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y],
  ['text', /"(?:[^"\\]|\\[^])*"|'(?:[^'\\]|\\[^])*'/y],
  ['operator', /==|!=|<=|>=|[-+*/%^<>()[\]{},:|=]/y],
] as const;
const SPACE = /[ \t\r\n]*/y;
const SPACE_IN_LINE = /[ \t\r]*/y;

/** Reads tokens from `from` up to the delimiter `close`; a line break closes a line statement. */
export function readBody(source: string, from: number, close: '}}' | '%}' | '\n'): Body {
  const tokens: Token[] = [];
  let braces = 0;
  let at = from;
  for (;;) {
    at += match(close === '\n' ? SPACE_IN_LINE : SPACE, source, at)!.length;
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

function readToken(source: string, at: number, close: string): Token & { readonly width: number } {
  for (const [kind, pattern] of PATTERNS) {
    const found = match(pattern, source, at);
    if (found === undefined) continue;
    // A minus before the closing delimiter belongs to the delimiter.
    const isCut = kind === 'name' && found.endsWith('-') && source.startsWith(close, at + found.length);
    const written = isCut ? found.slice(0, -1) : found;
    const text = kind === 'text' ? contentOf(written, source, at) : written;
    return { kind, text, at, width: written.length };
  }
  const char = source[at]!;
  const problem = char === '"' || char === "'" ? 'the text is not closed' : `'${char}' is not expected here`;
  throw new TemplateError(problem, source, at);
}

function match(expression: RegExp, source: string, at: number): string | undefined {
  expression.lastIndex = at;
  return expression.exec(source)?.[0];
}

/** Unescapes as JSON does, and `\'`. */
function contentOf(written: string, source: string, at: number): string {
  return written.slice(1, -1).replace(/\\(u[0-9a-fA-F]{4}|[^])/g, (escape, code: string, offset: number) => {
    if (code === "'") return code;
    if (code.length === 5 || '"\\/bfnrt'.includes(code)) return JSON.parse(`"${escape}"`) as string;
    throw new TemplateError(`${escape} is not an escape`, source, at + 1 + offset);
  });
}

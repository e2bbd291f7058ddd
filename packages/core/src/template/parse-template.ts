import { ExpressionParser, type NameWatch } from './expression-parser.ts';
import { TemplateError } from './template-error.ts';
import { readBody, type Body } from './tokens.ts';
import type { Branch, Expression, Statement, Uses } from './syntax-tree.ts';
import { toByteString } from './value.ts';

/** Maximum length of a template, in characters. */
export const MAX_TEMPLATE_LENGTH = 65_536;
/** Maximum nesting of statements. */
const MAX_DEPTH = 32;

/** A parsed template. */
export interface ParsedTemplate {
  readonly statements: readonly Statement[];
  readonly uses: Uses;
}

/** Parses a template. Throws {@link TemplateError} with the position of the problem. */
export function parseTemplate(source: string): ParsedTemplate {
  if (source.length > MAX_TEMPLATE_LENGTH) {
    throw new TemplateError(`a template must have at most ${MAX_TEMPLATE_LENGTH} characters`, source, 0);
  }
  return new TemplateParser(source).parse();
}

/** A statement that is still open. */
interface Open {
  readonly at: number;
  readonly keyword: 'if' | 'for';
  readonly branches: { test: Expression | undefined; body: Statement[] }[];
  readonly loop?: { readonly key: string | undefined; readonly item: string; readonly list: Expression };
}

class TemplateParser implements NameWatch {
  readonly #source: string;
  readonly #variables = new Set<string>();
  readonly #functions = new Set<string>();
  readonly #set = new Set<string>();
  readonly #root: Statement[] = [];
  readonly #open: Open[] = [];
  #at = 0;
  #cutsNext = false;

  constructor(source: string) {
    this.#source = source;
  }

  parse(): ParsedTemplate {
    while (this.#at < this.#source.length) this.#step();
    const open = this.#open.at(-1);
    if (open) throw this.#error(`the ${open.keyword} has no end${open.keyword}`, open.at);
    return { statements: this.#root, uses: { variables: this.#variables, functions: this.#functions } };
  }

  variable(name: string): void {
    const [first = ''] = name.split(/[./]/, 1);
    const looped = this.#open.some(
      ({ loop }) => loop && (first === 'loop' || first === loop.item || first === loop.key),
    );
    if (!looped && !this.#set.has(first)) this.#variables.add(name);
  }

  call(name: string): void {
    this.#functions.add(name);
  }

  #error(problem: string, at: number): TemplateError {
    return new TemplateError(problem, this.#source, at);
  }

  /** The list that receives the next statements. */
  get #body(): Statement[] {
    return this.#open.at(-1)?.branches.at(-1)!.body ?? this.#root;
  }

  #step(): void {
    const found = nextMark(this.#source, this.#at);
    const cutsBefore = found.mark !== '##' && this.#source[found.at + 2] === '-';
    this.#text(this.#source.slice(this.#at, found.at), cutsBefore);
    this.#at = found.at + found.mark.length + (cutsBefore ? 1 : 0);
    if (found.mark === '{#') this.#comment(found.at);
    else if (found.mark === '{{') this.#output();
    else if (found.mark !== '') this.#statement(found.mark === '##' ? '\n' : '%}', found.at);
  }

  #text(written: string, cutsBefore: boolean): void {
    let text = this.#cutsNext ? written.trimStart() : written;
    this.#cutsNext = false;
    if (cutsBefore) text = text.trimEnd();
    if (text !== '') this.#body.push({ type: 'text', text: toByteString(text) });
  }

  #comment(at: number): void {
    const end = this.#source.indexOf('#}', this.#at);
    if (end < 0) throw this.#error('{# is not closed', at);
    this.#cutsNext = this.#source[end - 1] === '-' && end > this.#at;
    this.#at = end + 2;
  }

  #read(close: '}}' | '%}' | '\n'): ExpressionParser {
    const body: Body = readBody(this.#source, this.#at, close);
    this.#at = body.end;
    this.#cutsNext = body.cutsAfter;
    return new ExpressionParser(this.#source, body.tokens, this);
  }

  #output(): void {
    const parser = this.#read('}}');
    const value = parser.expression();
    parser.end();
    this.#body.push({ type: 'output', value });
  }

  #statement(close: '%}' | '\n', at: number): void {
    const parser = this.#read(close);
    if (parser.take('if')) this.#beginIf(parser, at);
    else if (parser.take('else')) this.#else(parser, at);
    else if (parser.take('for')) this.#beginFor(parser, at);
    else if (parser.take('set')) this.#assign(parser);
    else if (parser.take('endif')) this.#close('if', at);
    else if (parser.take('endfor')) this.#close('for', at);
    else throw parser.error(`'${parser.token.text.slice(0, 60)}' is not a statement`);
    parser.end();
  }

  #push(open: Open): void {
    if (this.#open.length >= MAX_DEPTH) throw this.#error('statements are nested too deeply', open.at);
    this.#open.push(open);
  }

  #beginIf(parser: ExpressionParser, at: number): void {
    this.#push({ at, keyword: 'if', branches: [{ test: parser.expression(), body: [] }] });
  }

  #else(parser: ExpressionParser, at: number): void {
    const open = this.#open.at(-1);
    if (open?.keyword !== 'if') throw this.#error('else outside of an if', at);
    if (open.branches.at(-1)!.test === undefined) throw this.#error('this if already has an else', at);
    const test = parser.take('if') ? parser.expression() : undefined;
    open.branches.push({ test, body: [] });
  }

  #beginFor(parser: ExpressionParser, at: number): void {
    const first = parser.takeName('the name of the loop variable');
    const second = parser.take(',') ? parser.takeName('the name of the value variable') : undefined;
    parser.expect('in');
    const list = parser.expression();
    const key = second === undefined ? undefined : first;
    const loop = { key, item: second ?? first, list };
    this.#push({ at, keyword: 'for', loop, branches: [{ test: undefined, body: [] }] });
  }

  #assign(parser: ExpressionParser): void {
    const name = parser.takeName('the name of the variable');
    parser.expect('=');
    const value = parser.expression();
    this.#set.add(name);
    this.#body.push({ type: 'set', name, value });
  }

  #close(keyword: Open['keyword'], at: number): void {
    const open = this.#open.at(-1);
    if (open?.keyword !== keyword) throw this.#error(`end${keyword} closes no ${keyword}`, at);
    this.#open.pop();
    const branches: readonly Branch[] = open.branches;
    if (open.loop) this.#body.push({ type: 'for', ...open.loop, body: branches[0]!.body });
    else this.#body.push({ type: 'if', branches });
  }
}

interface Mark {
  readonly mark: '{{' | '{%' | '{#' | '##' | '';
  readonly at: number;
}

/** Returns the next opening delimiter; `##` only counts at the beginning of a line. */
function nextMark(source: string, from: number): Mark {
  for (let at = from; at < source.length - 1; at++) {
    const [char, next] = [source[at], source[at + 1]];
    if (char === '{' && (next === '{' || next === '%' || next === '#')) return { mark: `{${next}`, at };
    if (char === '#' && next === '#' && (at === 0 || source[at - 1] === '\n')) return { mark: '##', at };
  }
  return { mark: '', at: source.length };
}

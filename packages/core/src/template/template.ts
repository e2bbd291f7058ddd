import { ExpressionParser, type Expression, type NameWatch } from './expression-parser.ts';
import { Run, type TemplateData } from './run.ts';
import { RenderError, TemplateError } from './template-error.ts';
import { readBody, type Body } from './tokens.ts';
import { toByteString } from '../http/byte-string.ts';
import { isList, isMap, isTruthy, type Value } from './value.ts';

/** Maximum length of a template, in characters. */
const MAX_LENGTH = 65_536;
/** Maximum nesting of statements. */
const MAX_DEPTH = 32;
/** An opening delimiter; `##` only counts at the beginning of a line. */
const DELIMITER = /\{[{%#]|(?<![^\n])##/g;

/** The inputs that a template uses. */
export interface Uses {
  /** First steps of variables that the template does not set itself. */
  readonly variables: ReadonlySet<string>;
  readonly functions: ReadonlySet<string>;
}

/** Options of parsing and rendering. */
export interface TemplateSyntax {
  /** Paths are written `a/b` instead of `a.b`. Default false. */
  readonly pointers?: boolean;
  /** Keeps JSON escapes when strings are inserted. Default false. */
  readonly escape?: boolean;
}

/** A compiled template. */
export interface Template {
  readonly uses: Uses;
  /** Returns the text for this data, a byte string. Throws {@link RenderError} (400) if it cannot be rendered. */
  render(data: TemplateData): string;
}

/**
 * Compiles a template of the Jinja-like language. Rendering runs no code of the template's author and terminates after
 * 100,000 steps or 1 MiB of text. Throws {@link TemplateError} (`ERR_CORE_TEMPLATE`) if it does not parse.
 *
 * @example
 * compileTemplate('Bearer {{ extraction("token") }}').render(data);
 */
export function compileTemplate(source: string, { pointers = false, escape = false }: TemplateSyntax = {}): Template {
  if (source.length > MAX_LENGTH)
    throw new TemplateError(`a template must have at most ${MAX_LENGTH} characters`, source, 0);
  const parser = new TemplateParser(source);
  const perform = parser.parse();
  return {
    uses: parser.uses,
    render(data) {
      const run = new Run(data, { pointers, escape });
      perform(run);
      return run.output;
    },
  };
}

/** A compiled statement, or several. */
type Perform = (run: Run) => void;

/** One branch of an `if`; the last may have no test. */
interface Branch {
  readonly test: Expression | undefined;
  readonly body: Perform[];
}

/** The head of a `for`. `key` is set if it runs over the members of an object. */
interface Loop {
  readonly key: string | undefined;
  readonly item: string;
  readonly list: Expression;
}

/** A statement that is still open. */
interface Open {
  readonly at: number;
  readonly keyword: 'if' | 'for';
  readonly branches: Branch[];
  readonly loop?: Loop;
}

class TemplateParser implements NameWatch {
  readonly #source: string;
  readonly uses = { variables: new Set<string>(), functions: new Set<string>() };
  readonly #set = new Set<string>();
  readonly #root: Perform[] = [];
  readonly #open: Open[] = [];
  #at = 0;
  #cutsNext = false;

  constructor(source: string) {
    this.#source = source;
  }

  parse(): Perform {
    while (this.#at < this.#source.length) this.#step();
    const open = this.#open.at(-1);
    if (open) throw this.#error(`the ${open.keyword} has no end${open.keyword}`, open.at);
    return sequence(this.#root);
  }

  variable(name: string): void {
    const [first = ''] = name.split(/[./]/, 1);
    const looped = this.#open.some(
      ({ loop }) => loop && (first === 'loop' || first === loop.item || first === loop.key),
    );
    if (!looped && !this.#set.has(first)) this.uses.variables.add(name);
  }

  call(name: string): void {
    this.uses.functions.add(name);
  }

  #error(problem: string, at: number): TemplateError {
    return new TemplateError(problem, this.#source, at);
  }

  /** The list that receives the next statements. */
  get #body(): Perform[] {
    return this.#open.at(-1)?.branches.at(-1)!.body ?? this.#root;
  }

  #step(): void {
    DELIMITER.lastIndex = this.#at;
    const found = DELIMITER.exec(this.#source);
    const delimiter = found?.[0] ?? '';
    const at = found?.index ?? this.#source.length;
    const cutsBefore = delimiter !== '##' && this.#source[at + 2] === '-';
    this.#text(this.#source.slice(this.#at, at), cutsBefore);
    this.#at = at + delimiter.length + (cutsBefore ? 1 : 0);
    if (delimiter === '{#') this.#comment(at);
    else if (delimiter === '{{') this.#output();
    else if (delimiter !== '') this.#statement(delimiter === '##' ? '\n' : '%}', at);
  }

  #text(written: string, cutsBefore: boolean): void {
    let text = this.#cutsNext ? written.trimStart() : written;
    this.#cutsNext = false;
    if (cutsBefore) text = text.trimEnd();
    if (text === '') return;
    const bytes = toByteString(text);
    this.#body.push((run) => run.write(run.text(bytes)));
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
    this.#body.push((run) => run.write(run.print(value(run))));
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
    this.#body.push((run) => void run.locals.set(name, value(run)));
  }

  #close(keyword: Open['keyword'], at: number): void {
    const open = this.#open.at(-1);
    if (open?.keyword !== keyword) throw this.#error(`end${keyword} closes no ${keyword}`, at);
    this.#open.pop();
    this.#body.push(open.loop ? forEach(open.loop, open.branches[0]!.body) : firstOf(open.branches));
  }
}

function sequence(steps: readonly Perform[]): Perform {
  if (steps.length === 1) return steps[0]!;
  return (run) => {
    for (const step of steps) step(run);
  };
}

function firstOf(branches: readonly Branch[]): Perform {
  const compiled = branches.map(({ test, body }) => ({ test, perform: sequence(body) }));
  return (run) => {
    run.spend(1);
    compiled.find(({ test }) => !test || isTruthy(test(run)))?.perform(run);
  };
}

function forEach({ key, item, list }: Loop, body: readonly Perform[]): Perform {
  const perform = sequence(body);
  const names = ['loop', item, ...(key === undefined ? [] : [key])];
  return (run) => {
    const entries = entriesOf(list(run), key !== undefined);
    const outer = names.map((name) => [name, run.locals.get(name)] as const);
    const parent = run.locals.get('loop') ?? null;
    for (const [i, [name, value]] of entries.entries()) {
      run.spend(1);
      const isLast = i === entries.length - 1;
      run.locals.set('loop', { index: i, index1: i + 1, is_first: i === 0, is_last: isLast, parent });
      run.locals.set(item, value);
      if (key !== undefined) run.locals.set(key, name);
      perform(run);
    }
    for (const [name, value] of outer) {
      if (value === undefined) run.locals.delete(name);
      else run.locals.set(name, value);
    }
  };
}

function entriesOf(value: Value, members: boolean): readonly (readonly [string, Value])[] {
  if (members && isMap(value)) return Object.entries(value);
  if (!members && isList(value)) return value.map((one) => ['', one] as const);
  throw new RenderError(members ? 'the loop needs an object' : 'the loop needs a list');
}

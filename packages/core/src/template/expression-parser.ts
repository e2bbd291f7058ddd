import type { TemplateFunction } from './arguments.ts';
import { FUNCTIONS } from './functions.ts';
import { OPERATIONS } from './operators.ts';
import type { Run } from './run.ts';
import { RenderError, TemplateError } from './template-error.ts';
import type { Token } from './tokens.ts';
import { toByteString } from '../http/byte-string.ts';
import { isTruthy, type Value } from './value.ts';

/** Maximum number of values and operators per expression. */
const MAX_TERMS = 500;
/** Maximum nesting of brackets and calls. */
const MAX_DEPTH = 64;

type BinaryOperator = keyof typeof OPERATIONS | 'and' | 'or';

/** A compiled expression. Throws a `RenderError` if it cannot be evaluated. */
export interface Expression {
  (run: Run): Value;
  /** Of a variable: its value, `undefined` if it is not defined. */
  readonly find?: (run: Run) => Value | undefined;
}

/** Precedence of operators; `and` and `or` have the same. */
const RANK: Readonly<Record<BinaryOperator, number>> = {
  and: 1,
  or: 1,
  in: 2,
  '==': 2,
  '!=': 2,
  '<': 2,
  '<=': 2,
  '>': 2,
  '>=': 2,
  '+': 3,
  '-': 3,
  '*': 4,
  '/': 4,
  '%': 4,
  '^': 5,
};
/** `not` binds tighter than multiplication, so `not a == b` is `(not a) == b`. */
const NOT_OPERAND = 5;

const CONSTANTS: ReadonlyMap<string, Value> = new Map<string, Value>([
  ['true', true],
  ['false', false],
  ['null', null],
]);

/** Receives every name that an expression uses. */
export interface NameWatch {
  variable(name: string): void;
  call(name: string): void;
}

/** Compiles expressions from the tokens of one `{{ }}` or `{% %}`. */
export class ExpressionParser {
  readonly #source: string;
  readonly #tokens: readonly Token[];
  readonly #watch: NameWatch;
  #next = 0;
  #terms = 0;
  #depth = 0;

  constructor(source: string, tokens: readonly Token[], watch: NameWatch) {
    this.#source = source;
    this.#tokens = tokens;
    this.#watch = watch;
  }

  get token(): Token {
    return this.#tokens[Math.min(this.#next, this.#tokens.length - 1)]!;
  }

  /** Consumes the token if it is this operator or word. */
  take(text: string): boolean {
    const { token } = this;
    if (token.text !== text || (token.kind !== 'operator' && token.kind !== 'name')) return false;
    this.#next++;
    return true;
  }

  /** Consumes a plain name that can be set. */
  takeName(what: string): string {
    const { token } = this;
    const usable = token.kind === 'name' && /^\w+$/.test(token.text) && !RESERVED.has(token.text);
    if (!usable) throw this.error(`${what} is missing`);
    this.#next++;
    return token.text;
  }

  expect(text: string): void {
    if (!this.take(text)) throw this.error(`'${text}' is missing`);
  }

  end(): void {
    const { token } = this;
    if (token.kind !== 'end') throw this.error(`'${token.text}' is not expected here`);
  }

  error(problem: string, at = this.token.at): TemplateError {
    return new TemplateError(problem, this.#source, at);
  }

  expression(rank = 1): Expression {
    this.#enter();
    let left = this.#operand();
    for (;;) {
      const operator = this.#operator();
      if (operator === undefined || RANK[operator] < rank) break;
      this.#next++;
      left = binary(operator, left, this.expression(operator === '^' ? RANK['^'] : RANK[operator] + 1));
    }
    this.#depth--;
    return left;
  }

  #operator(): BinaryOperator | undefined {
    const { kind, text } = this.token;
    if (kind !== 'operator' && kind !== 'name') return undefined;
    return Object.hasOwn(RANK, text) ? (text as BinaryOperator) : undefined;
  }

  #enter(): void {
    if (++this.#depth > MAX_DEPTH) throw this.error('the expression is nested too deeply');
  }

  #count(): void {
    if (++this.#terms > MAX_TERMS) throw this.error(`an expression must have at most ${MAX_TERMS} parts`);
  }

  #operand(): Expression {
    this.#count();
    if (this.take('not')) {
      const operand = this.expression(NOT_OPERAND);
      return (run) => !isTruthy(operand(run));
    }
    let value = this.#primary();
    while (this.take('|')) {
      this.#count();
      const { token } = this;
      if (token.kind !== 'name') throw this.error('a function name is missing after |');
      this.#next++;
      value = this.#call(token, [value]);
    }
    return value;
  }

  #primary(): Expression {
    const { token } = this;
    if (token.kind === 'name' && !CONSTANTS.has(token.text)) {
      if (RESERVED.has(token.text)) throw this.error(`'${token.text}' is not expected here`);
      this.#next++;
      if (this.token.text === '(' && this.token.kind === 'operator') return this.#call(token, []);
      this.#watch.variable(token.text);
      return variable(token.text);
    }
    if (this.take('(')) {
      const inner = this.expression();
      this.expect(')');
      return inner;
    }
    const value = this.#literal();
    return () => value;
  }

  #call(name: Token, first: readonly Expression[]): Expression {
    const args = [...first];
    if (this.take('('))
      this.#items(')', () => {
        this.#count();
        args.push(this.expression());
      });
    const known = Object.hasOwn(FUNCTIONS, name.text) ? FUNCTIONS[name.text] : undefined;
    if (!known) throw this.error(`there is no function '${name.text.slice(0, 60)}'`, name.at);
    const [least, most] = known.args;
    if (args.length < least || args.length > most) {
      const count = least === most ? String(least) : `${least} to ${most}`;
      throw this.error(`'${name.text}' takes ${count} arguments, not ${args.length}`, name.at);
    }
    this.#watch.call(name.text);
    return name.text === 'default' ? withDefault(args[0]!, args[1]!) : call(known, args);
  }

  /** Constants, lists and objects of constants. */
  #literal(): Value {
    this.#count();
    const { token } = this;
    if (token.kind === 'end') throw this.error('a value is missing');
    this.#next++;
    if (token.kind === 'text') return toByteString(token.text);
    if (token.kind === 'number') return this.#number(token, 1);
    if (token.kind === 'name' && CONSTANTS.has(token.text)) return CONSTANTS.get(token.text)!;
    if (token.text === '-' && this.token.kind === 'number') {
      const number = this.token;
      this.#next++;
      return this.#number(number, -1);
    }
    if (token.text === '[') return this.#list();
    if (token.text === '{') return this.#object();
    throw this.error(`'${token.text}' is not expected here`, token.at);
  }

  #number(token: Token, sign: number): number {
    const value = sign * Number(token.text);
    if (!Number.isFinite(value)) throw this.error('the number is too large', token.at);
    return value;
  }

  #list(): Value {
    const items: Value[] = [];
    this.#enter();
    this.#items(']', () => void items.push(this.#literal()));
    this.#depth--;
    return items;
  }

  #object(): Value {
    const members: [string, Value][] = [];
    this.#enter();
    this.#items('}', () => {
      const { token } = this;
      if (token.kind !== 'text') throw this.error('a key in quotes is missing');
      this.#next++;
      this.expect(':');
      members.push([toByteString(token.text), this.#literal()]);
    });
    this.#depth--;
    return Object.fromEntries(members);
  }

  /** Reads items with commas between them, up to a closing bracket. */
  #items(close: string, read: () => void): void {
    if (this.take(close)) return;
    do read();
    while (this.take(','));
    this.expect(close);
  }
}

function variable(name: string): Expression {
  const find = (run: Run): Value | undefined => run.find(name);
  const evaluate = (run: Run): Value => {
    const value = find(run);
    if (value === undefined) throw new RenderError(`variable '${name.slice(0, 60)}' is not defined`);
    return value;
  };
  return Object.assign(evaluate, { find });
}

function withDefault(value: Expression, otherwise: Expression): Expression {
  const maybe = value.find ?? value;
  return (run) => {
    const found = maybe(run);
    return found === undefined ? otherwise(run) : found;
  };
}

function call(called: TemplateFunction, args: readonly Expression[]): Expression {
  return (run) => {
    run.spend(1);
    return called.call(
      args.map((arg) => arg(run)),
      run,
    );
  };
}

function binary(operator: BinaryOperator, left: Expression, right: Expression): Expression {
  if (operator === 'and') return (run) => isTruthy(left(run)) && isTruthy(right(run));
  if (operator === 'or') return (run) => isTruthy(left(run)) || isTruthy(right(run));
  const operation = OPERATIONS[operator];
  return (run) => {
    run.spend(1);
    return operation(left(run), right(run), run);
  };
}

const RESERVED: ReadonlySet<string> = new Set(['and', 'or', 'not', 'in', 'true', 'false', 'null', 'if', 'else', 'for']);

import { FUNCTIONS, undefinedVariable } from './functions.ts';
import { OPERATIONS } from './operators.ts';
import { parseTemplate } from './parse-template.ts';
import { Run, type TemplateData } from './run.ts';
import { RenderError } from './template-error.ts';
import type { Branch, Expression, Statement, Uses } from './syntax-tree.ts';
import { isList, isMap, isTruthy, type Value } from './value.ts';

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

type Evaluate = (run: Run) => Value;
type Perform = (run: Run) => void;

/**
 * Compiles a template of the Jinja-like language. Rendering runs no code of the template's author and terminates after
 * 100,000 steps or 1 MiB of text. Throws {@link TemplateError} (`ERR_CORE_TEMPLATE`) if it does not parse.
 *
 * @example
 * compileTemplate('Bearer {{ extraction("token") }}').render(data);
 */
export function compileTemplate(source: string, { pointers = false, escape = false }: TemplateSyntax = {}): Template {
  const { statements, uses } = parseTemplate(source);
  const perform = compileBody(statements);
  return {
    uses,
    render(data) {
      const run = new Run(data, { pointers, escape });
      perform(run);
      return run.output;
    },
  };
}

function compileBody(statements: readonly Statement[]): Perform {
  const steps = statements.map(compileStatement);
  if (steps.length === 1) return steps[0]!;
  return (run) => {
    for (const step of steps) step(run);
  };
}

function compileStatement(statement: Statement): Perform {
  if (statement.type === 'text') return (run) => run.write(run.text(statement.text));
  if (statement.type === 'if') return compileIf(statement.branches);
  if (statement.type === 'for') return compileFor(statement);
  const evaluate = compileExpression(statement.value);
  if (statement.type === 'output') return (run) => run.write(run.print(evaluate(run)));
  return (run) => void run.locals.set(statement.name, evaluate(run));
}

function compileIf(branches: readonly Branch[]): Perform {
  const compiled = branches.map(({ test, body }) => ({
    test: test && compileExpression(test),
    perform: compileBody(body),
  }));
  return (run) => {
    run.spend(1);
    compiled.find(({ test }) => !test || isTruthy(test(run)))?.perform(run);
  };
}

function compileFor({ key, item, list, body }: Extract<Statement, { type: 'for' }>): Perform {
  const evaluate = compileExpression(list);
  const perform = compileBody(body);
  const names = ['loop', item, ...(key === undefined ? [] : [key])];
  return (run) => {
    const entries = entriesOf(evaluate(run), key !== undefined);
    const outer = names.map((name) => [name, run.locals.get(name)] as const);
    const parent = run.locals.get('loop') ?? null;
    for (const [i, [name, value]] of entries.entries()) {
      run.spend(1);
      run.locals.set('loop', loopOf(i, entries.length, parent));
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

function loopOf(i: number, length: number, parent: Value): Value {
  return { index: i, index1: i + 1, is_first: i === 0, is_last: i === length - 1, parent };
}

function compileExpression(expression: Expression): Evaluate {
  const evaluate = compileMaybe(expression);
  if (expression.type !== 'variable') return evaluate as Evaluate;
  const { name } = expression;
  return (run) => {
    const value = evaluate(run);
    if (value === undefined) throw undefinedVariable(name);
    return value;
  };
}

/** Returns `undefined` only for an undefined variable. */
function compileMaybe(expression: Expression): (run: Run) => Value | undefined {
  switch (expression.type) {
    case 'literal':
      return () => expression.value;
    case 'variable':
      return (run) => run.find(expression.name);
    case 'not': {
      const operand = compileExpression(expression.operand);
      return (run) => !isTruthy(operand(run));
    }
    case 'call':
      return compileCall(expression);
    default:
      return compileBinary(expression);
  }
}

function compileCall({ name, args }: Extract<Expression, { type: 'call' }>): Evaluate {
  if (name === 'default') {
    const [value, otherwise] = [compileMaybe(args[0]!), compileExpression(args[1]!)];
    return (run) => {
      const found = value(run);
      return found === undefined ? otherwise(run) : found;
    };
  }
  const called = FUNCTIONS[name]!;
  const compiled = args.map(compileExpression);
  return (run) => {
    run.spend(1);
    return called.call(
      compiled.map((arg) => arg(run)),
      run,
    );
  };
}

function compileBinary({ operator, left, right }: Extract<Expression, { type: 'binary' }>): Evaluate {
  const [first, second] = [compileExpression(left), compileExpression(right)];
  if (operator === 'and') return (run) => isTruthy(first(run)) && isTruthy(second(run));
  if (operator === 'or') return (run) => isTruthy(first(run)) || isTruthy(second(run));
  const operation = OPERATIONS[operator];
  return (run) => {
    run.spend(1);
    return operation(first(run), second(run), run);
  };
}

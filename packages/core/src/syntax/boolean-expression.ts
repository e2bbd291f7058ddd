import { GatewayError } from '../errors.ts';

/** A boolean expression over the names of steps. */
export type Expression =
  | { readonly type: 'step'; readonly name: string }
  | { readonly type: 'not'; readonly operand: Expression }
  | { readonly type: 'and' | 'or'; readonly left: Expression; readonly right: Expression };

const TOKEN = /\s*(&&|\|\||!|\(|\)|[^\s&|!()]+)/y;
const MAX_DEPTH = 64;

/**
 * Parses names combined with `&&`, `||`, `!` and parentheses; `&&` binds tighter than `||`. Throws `ERR_CORE_EXPRESSION`
 * with the position for a syntax error or an unknown name.
 */
export function parseExpression(text: string, names: ReadonlySet<string>): Expression {
  const tokens = tokenize(text);
  let at = 0;
  let depth = 0;

  function fail(why: string): never {
    throw syntaxError(tokens[at]?.at ?? text.length, why);
  }

  function chain(operator: string, type: 'and' | 'or', next: () => Expression): Expression {
    let left = next();
    while (tokens[at]?.text === operator) {
      at++;
      left = { type, left, right: next() };
    }
    return left;
  }
  const both = () => chain('&&', 'and', operand);
  const either = () => chain('||', 'or', both);

  function operand(): Expression {
    if (++depth > MAX_DEPTH) fail(`more than ${MAX_DEPTH} levels`);
    const token = tokens[at];
    if (!token) fail('a name is missing at the end');
    let result: Expression;
    if (token.text === '!') {
      at++;
      result = { type: 'not', operand: operand() };
    } else if (token.text === '(') {
      at++;
      result = either();
      if (tokens[at]?.text !== ')') fail('a closing parenthesis is missing');
      at++;
    } else if (/^[&|)]/.test(token.text)) fail(`a name is missing before ${token.text}`);
    else if (!names.has(token.text)) fail(`no step is named ${token.text} (${[...names].join(', ')})`);
    else {
      at++;
      result = { type: 'step', name: token.text };
    }
    depth--;
    return result;
  }

  const expression = either();
  if (at < tokens.length) fail(`an operator is missing before ${tokens[at]!.text}`);
  return expression;
}

/** Returns true if `&&` and `||` are mixed without parentheses, which is easily misread. */
export function mixesOperators(text: string): boolean {
  const levels: Set<string>[] = [new Set()];
  for (const { text: token } of tokenize(text)) {
    if (token === '(') levels.push(new Set());
    else if (token === ')') levels.pop();
    else if (token === '&&' || token === '||') levels.at(-1)?.add(token);
    if (levels.at(-1)?.size === 2) return true;
  }
  return false;
}

function syntaxError(at: number, why: string): GatewayError {
  return new GatewayError(`booleanExpr, character ${at + 1}: ${why}`, { code: 'ERR_CORE_EXPRESSION' });
}

function tokenize(text: string): { readonly text: string; readonly at: number }[] {
  const tokens: { text: string; at: number }[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.trimEnd().length) {
    const start = TOKEN.lastIndex;
    const found = TOKEN.exec(text);
    if (!found) throw syntaxError(start, 'unexpected text');
    tokens.push({ text: found[1]!, at: start + found[0].length - found[1]!.length });
  }
  return tokens;
}

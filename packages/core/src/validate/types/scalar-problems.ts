import { parseDuration } from '../../syntax/duration.ts';
import { compileRegex, RegexError } from '../../syntax/regex.ts';
import type { WrittenProblem } from '../document-report.ts';
import type { ScalarNode } from './node.ts';
import { boundProblem, typeProblem } from './wrong-value.ts';

type ValueProblem = Omit<WrittenProblem, 'path'>;

const NONE: readonly ValueProblem[] = Object.freeze([]);

/** Returns the problems of a text, a number or a switch: its type, its bounds and its format. */
export function scalarProblems(node: ScalarNode, value: unknown): readonly ValueProblem[] {
  const type = node.types.some((name) => isOfType(name, value))
    ? undefined
    : typeProblem(node.types.join(), value, node.format);
  const content = contentProblem(node, value);
  if (!type) return content ? [content] : NONE;
  return content ? [type, content] : [type];
}

/** Returns the problem of a number outside its bounds, or of a text without its format. */
function contentProblem(node: ScalarNode, value: unknown): ValueProblem | undefined {
  if (typeof value === 'number') return boundProblem(node, value);
  return typeof value === 'string' ? formatProblem(node, value) : undefined;
}

/** Returns why a pattern is not an RE2 expression; `undefined` if it is one. */
export function regexProblem(pattern: string): string | undefined {
  try {
    compileRegex(pattern);
    return undefined;
  } catch (error) {
    if (!(error instanceof RegexError)) throw error;
    return `not a valid RE2 expression: ${error.message}, at offset ${error.offset}`;
  }
}

function formatProblem({ format }: ScalarNode, value: string): ValueProblem | undefined {
  if (format === 'duration') return durationProblem(value);
  const problem = format === 'regex' ? regexProblem(value) : undefined;
  return problem === undefined ? undefined : { code: 'BAD_REGEX', message: problem, on: 'value' };
}

function durationProblem(value: string): ValueProblem | undefined {
  try {
    parseDuration(value);
    return undefined;
  } catch (error) {
    const hint = 'for example 5s, 0.25s, 500ms, 1h30m';
    return { code: 'BAD_DURATION', message: (error as Error).message, hint, on: 'value' };
  }
}

function isOfType(type: string, value: unknown): boolean {
  if (type === 'integer') return Number.isInteger(value);
  return type === 'number' ? Number.isFinite(value) : typeof value === type;
}

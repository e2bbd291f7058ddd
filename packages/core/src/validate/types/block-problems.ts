import { compileRegex, readSubstitution } from '../../syntax/regex.ts';
import type { WrittenProblem } from '../document-report.ts';
import { isObject } from '../resource-identity.ts';
import type { ObjectNode } from './node.ts';
import { regexProblem } from './scalar-problems.ts';

type Json = Readonly<Record<string, unknown>>;

/** A problem of a block as a whole, or of one of its fields. */
export interface BlockProblem {
  readonly problem: Omit<WrittenProblem, 'path'>;
  readonly field?: string;
}

const NONE: readonly BlockProblem[] = Object.freeze([]);

/** Returns the problems of the rules of a block: fields that exclude each other, missing fields, and groups of a substitution. */
export function blockProblems(node: ObjectNode, block: Json): readonly BlockProblem[] {
  const isRewrite = node.title === 'RegexRewrite';
  if (node.oneOf.length + node.required.length === 0 && !isRewrite) return NONE;
  const problems: BlockProblem[] = [];
  for (const { members, required, message } of node.oneOf) {
    let count = 0;
    for (const member of members) if (block[member] !== undefined) count++;
    if (required ? count === 1 : count < 2) continue;
    const set = members.filter((member) => block[member] !== undefined);
    for (const field of set.slice(1)) {
      const hint = `only one of ${members.join(', ')}`;
      const text = `${field} cannot be set together with ${set[0]}`;
      problems.push({ field, problem: { code: 'ONEOF_CONFLICT', message: text, hint } });
    }
    if (!required || set.length > 0) continue;
    const hint = `one of ${members.join(', ')}`;
    problems.push({ problem: { code: 'ONEOF_MISSING', message: message ?? 'one field is missing', hint } });
  }
  for (const name of node.required) {
    if (block[name] === undefined) problems.push({ problem: { code: 'MISSING_FIELD', message: `${name} is missing` } });
  }
  const wrong = isRewrite ? substitutionProblem(block) : undefined;
  if (wrong) problems.push({ field: 'substitution', problem: wrong });
  return problems;
}

function substitutionProblem({ pattern, substitution }: Json): BlockProblem['problem'] | undefined {
  const regex = isObject(pattern) ? pattern['regex'] : undefined;
  if (typeof regex !== 'string' || typeof substitution !== 'string' || regexProblem(regex)) return undefined;
  const groups = compileRegex(regex).groupCount;
  const wrong = readSubstitution(substitution).find((part) => typeof part === 'number' && part > groups);
  if (wrong === undefined) return undefined;
  const message = `\\${wrong} refers to a group that the expression does not have`;
  return { code: 'BAD_SUBSTITUTION', message, hint: `it has ${groups}`, on: 'value' };
}

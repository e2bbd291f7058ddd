import type { FieldPath } from '../../resource/problem.ts';
import type { SchemaNode } from '../../schema/field.ts';
import { isObject } from '../resource-identity.ts';
import { blockProblems } from './block-problems.ts';
import { fittingNode, nodeOf, type Node, type ObjectNode } from './node.ts';
import { asksForDefault } from './normalise.ts';
import { scalarProblems } from './scalar-problems.ts';
import { enumProblem, typeProblem, valueProblem } from './wrong-value.ts';

/** What is wrong with a value, and where. */
export interface ValueProblem {
  readonly path: FieldPath;
  readonly message: string;
  readonly hint?: string | undefined;
}

type Json = Readonly<Record<string, unknown>>;

/**
 * Returns the first problem of a value in its normal form; `undefined` if it matches its schema. In contrast to `normalise`, it accepts
 * no other spelling and no empty value, and copies nothing.
 */
export function firstProblem(schema: SchemaNode, value: unknown): ValueProblem | undefined {
  return problemOf(nodeOf(schema), value);
}

function problemOf(node: Node, value: unknown): ValueProblem | undefined {
  switch (node.type) {
    case 'scalar':
      return here(scalarProblems(node, value)[0]);
    case 'enum':
      return node.names.includes(value as string) ? undefined : here(enumProblem(value, node.names));
    case 'list':
      return Array.isArray(value) ? problemOfList(node.items, value) : here(typeProblem('array', value));
    case 'map':
      return isObject(value) ? problemOfMap(node.values, value) : here(typeProblem('object', value));
    case 'object':
      return isObject(value) ? problemOfBlock(node, value) : here(typeProblem('object', value));
    case 'either':
      return problemOf(fittingNode(node.nodes, value), value);
    case 'value':
      return here(valueProblem(node.problem, value));
    case 'anything':
      return problemOfAnything(value);
  }
}

function problemOfList(items: Node, value: readonly unknown[]): ValueProblem | undefined {
  for (let i = 0; i < value.length; i++) {
    const problem = problemOf(items, value[i]);
    if (problem) return below(i, problem);
  }
  return undefined;
}

function problemOfMap(values: Node, value: Json): ValueProblem | undefined {
  for (const key of Object.keys(value)) {
    const problem = key === '__proto__' ? BAD_KEY : problemOf(values, value[key]);
    if (problem) return below(key, problem);
  }
  return undefined;
}

function problemOfBlock(node: ObjectNode, value: Json): ValueProblem | undefined {
  const known = childrenOf(node);
  // Faster than the list of the keys; JSON has no others.
  for (const key in value) {
    const child = known.get(key);
    const problem = child ? problemOf(child, value[key]) : problemOfField(node, key, value[key]);
    if (problem) return below(key, problem);
  }
  const [wrong] = blockProblems(node, value);
  if (!wrong) return undefined;
  return wrong.field === undefined ? here(wrong.problem) : below(wrong.field, here(wrong.problem)!);
}

const children = new WeakMap<ObjectNode, Map<string, Node>>();

/** Returns the nodes of the supported fields that were seen so far. */
function childrenOf(node: ObjectNode): Map<string, Node> {
  let found = children.get(node);
  if (!found) children.set(node, (found = new Map()));
  return found;
}

/** Checks a field whose node is not known yet. */
function problemOfField(node: ObjectNode, key: string, value: unknown): ValueProblem | undefined {
  const field = node.fields.get(key);
  if (!field) return UNKNOWN;
  if (field['x-support'] === 'rejected') return asksForDefault(field, value) ? undefined : REFUSED;
  const child = nodeOf(field);
  childrenOf(node).set(key, child);
  return problemOf(child, value);
}

/** Free-form content of any type. */
function problemOfAnything(value: unknown): ValueProblem | undefined {
  if (Array.isArray(value)) return problemOfList(ANYTHING, value);
  return isObject(value) ? problemOfMap(ANYTHING, value) : undefined;
}

const ANYTHING: Node = { type: 'anything' };
const BAD_KEY: ValueProblem = { path: [], message: 'cannot be a key' };
const UNKNOWN: ValueProblem = { path: [], message: 'is not known to this version of the proxy' };
const REFUSED: ValueProblem = {
  path: [],
  message: 'is a security field that this version of the proxy does not support',
};

function here(problem: Omit<ValueProblem, 'path'> | undefined): ValueProblem | undefined {
  return problem && { path: [], message: problem.message, hint: problem.hint };
}

function below(step: string | number, { path, ...problem }: ValueProblem): ValueProblem {
  return { ...problem, path: [step, ...path] };
}

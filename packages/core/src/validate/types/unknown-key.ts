import { formatPath, type FieldPath } from '../../resource/problem.ts';
import { nearest, suggest } from '../../syntax/did-you-mean.ts';
import { nodeOf, type Node, type ObjectNode } from './node.ts';
import type { WrittenProblem } from '../document-report.ts';

/** Where to search: the nodes from the root of the schema to the block, and the prefix of its paths. */
interface Surroundings {
  readonly nodes: readonly Node[];
  readonly at: FieldPath;
}

/** Returns the problem of an unknown key: misspelt, or misplaced. */
export function unknownKey(around: Surroundings, path: FieldPath, key: string): Omit<WrittenProblem, 'path'> {
  const block = around.nodes[path.length];
  const own = block?.type === 'object' ? [...block.fields.keys()] : [];
  const almost = nearest(key, own);
  if (almost?.toLowerCase() !== key.toLowerCase()) {
    const home = placeOf(around, path, key);
    if (home)
      return { code: 'MISPLACED_KEY', message: `${shorten(key)} does not belong here`, hint: `it belongs ${home}` };
  }
  return { code: 'UNKNOWN_KEY', message: `unknown key ${shorten(key)}`, hint: suggest(key, own) };
}

/** Returns where a key belongs: further up, beside, or one level below. */
function placeOf({ nodes, at }: Surroundings, path: FieldPath, key: string): string | undefined {
  for (let length = path.length - 1; length >= 0; length--) {
    const above = nodes[length];
    if (above?.type !== 'object') continue;
    if (above.fields.has(key)) return placeAt([...at, ...path.slice(0, length)]);
    const beside = childWith(above, key, path[length]);
    if (beside) return `in ${formatPath([...at, ...path.slice(0, length), beside])}`;
    break;
  }
  const here = nodes[path.length];
  const below = here?.type === 'object' ? childWith(here, key) : undefined;
  if (below) return `in ${formatPath([...at, ...path, below])}`;
  for (let length = path.length - 2; length >= 0; length--) {
    const above = nodes[length];
    if (above?.type === 'object' && above.fields.has(key)) return placeAt([...at, ...path.slice(0, length)]);
  }
  return undefined;
}

function placeAt(path: FieldPath): string {
  return path.length === 0 ? 'at the top level' : `in ${formatPath(path)}`;
}

function childWith(block: ObjectNode, key: string, except?: string | number): string | undefined {
  const hasKey = (name: string) => {
    const child = nodeOf(block.fields.get(name)!);
    return name !== except && child.type === 'object' && child.fields.has(key);
  };
  return block.fields.has('options') && hasKey('options') ? 'options' : [...block.fields.keys()].find(hasKey);
}

const LONGEST = 80;

function shorten(key: string): string {
  return key.length > LONGEST ? `${key.slice(0, LONGEST)}…` : key;
}

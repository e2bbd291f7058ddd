import { formatPath, type FieldPath } from '../../resource/problem.ts';
import { nearest, suggest } from '../../syntax/did-you-mean.ts';
import { nodeAt, type Node, type ObjectNode } from './node.ts';
import type { WrittenProblem } from '../document-report.ts';

/** Where to search: the root of the schema and the prefix of its paths. */
export interface Root {
  readonly node: Node;
  readonly at: FieldPath;
}

/** Returns the problem of an unknown key: misspelt, or misplaced. */
export function unknownKey(root: Root, path: FieldPath, key: string): Omit<WrittenProblem, 'path'> {
  const block = nodeAt(root.node, path);
  const own = block?.type === 'object' ? [...block.fields.keys()] : [];
  const almost = nearest(key, own);
  if (almost?.toLowerCase() !== key.toLowerCase()) {
    const home = placeOf(root, path, key);
    if (home)
      return { code: 'MISPLACED_KEY', message: `${shorten(key)} does not belong here`, hint: `it belongs ${home}` };
  }
  return { code: 'UNKNOWN_KEY', message: `unknown key ${shorten(key)}`, hint: suggest(key, own) };
}

/** Returns where a key belongs: further up, beside, or one level below. */
function placeOf({ node, at }: Root, path: FieldPath, key: string): string | undefined {
  for (let length = path.length - 1; length >= 0; length--) {
    const above = nodeAt(node, path.slice(0, length));
    if (above?.type !== 'object') continue;
    if (above.fields.has(key)) return `in ${formatPath([...at, ...path.slice(0, length)])}`;
    const beside = childWith(above, key, path[length]);
    if (beside) return `in ${formatPath([...at, ...path.slice(0, length), beside])}`;
    break;
  }
  const here = nodeAt(node, path);
  const below = here?.type === 'object' ? childWith(here, key) : undefined;
  if (below) return `in ${formatPath([...at, ...path, below])}`;
  for (let length = path.length - 2; length >= 0; length--) {
    const above = nodeAt(node, path.slice(0, length));
    if (above?.type === 'object' && above.fields.has(key)) return `in ${formatPath([...at, ...path.slice(0, length)])}`;
  }
  return undefined;
}

function childWith(block: ObjectNode, key: string, except?: string | number): string | undefined {
  const holds = (name: string) => {
    const child = block.fields.get(name)?.node();
    return name !== except && child?.type === 'object' && child.fields.has(key);
  };
  return holds('options') ? 'options' : [...block.fields.keys()].find(holds);
}

const LONGEST = 80;

function shorten(key: string): string {
  return key.length > LONGEST ? `${key.slice(0, LONGEST)}…` : key;
}

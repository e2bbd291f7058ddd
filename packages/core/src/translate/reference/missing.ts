import type { FieldProblem } from '../../resource/problem.ts';
import type { Resources } from './find.ts';
import { identityOfKey, keyOf, type Kind, type ResourceKey, type ResourceRef } from '../../resource/resource.ts';
import type { StoreState } from '../../resource/stored.ts';
import { nearest } from '../../syntax/did-you-mean.ts';
import { dotted } from '../names.ts';

type Stored = StoreState['stored'];

/** Returns the fault of a reference to a missing resource: `text`, and a suggested name. */
export function missingFault(text: string, kind: Kind, ref: ResourceRef, resources: Resources): FieldProblem {
  const unread = resources.kinds && !resources.kinds.has(kind);
  const message = unread ? text : text + hintFor(resources, kind, ref);
  return {
    code: 'MISSING_REFERENCE',
    path: [],
    message,
    cause: missingCause(kind, ref),
    ...(unread && { unread: true as const }),
  };
}

/** Returns the cause of all problems of references to one missing resource. */
export function missingCause(kind: Kind, ref: ResourceRef): string {
  return `${keyOf(kind, ref)} not found`;
}

/** Returns the fault of an existing resource that cannot be used. */
export function faultOf(message: string): FieldProblem {
  return { code: 'STATUS', path: [], message, cause: message };
}

function hintFor({ stored, derived }: Resources, kind: Kind, ref: ResourceRef): string {
  const known = derived.of(noHints, stored);
  const key = keyOf(kind, ref);
  const hint = known.get(key) ?? makeHint(stored, kind, ref);
  known.set(key, hint);
  return hint;
}

/** The hints that were made for a state. */
function noHints(_stored: Stored): Map<ResourceKey, string> {
  return new Map();
}

/** Returns the same name in another namespace, or else the nearest name in the same namespace. */
function makeHint(stored: Stored, kind: Kind, ref: ResourceRef): string {
  const elsewhere: string[] = [];
  const names: string[] = [];
  const [own, suffix] = [`${kind}/${ref.namespace}/`, `/${ref.name}`];
  for (const key of stored.keys()) {
    if (!key.startsWith(kind) || key[kind.length] !== '/') continue;
    if (key.startsWith(own)) names.push(key.slice(own.length));
    else if (key.endsWith(suffix)) elsewhere.push(dotted(identityOfKey(key)));
  }
  const near = elsewhere.sort()[0] ?? nearest(ref.name, names.sort());
  return near === undefined ? '' : ` (did you mean ${near}?)`;
}

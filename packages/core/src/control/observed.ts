import type { Claim } from './claim.ts';
import type { Problem } from '../resource/problem.ts';
import { identityOfKey } from '../resource/resource.ts';

/** Something that was found out about a resource while it runs. An error does not take it out of use. */
export type ObservedProblem = Pick<Problem, 'severity' | 'path' | 'message'>;

/** Observations about a resource besides its text, e.g. from the server that it names. */
export interface Observed {
  readonly problems: readonly ObservedProblem[];
  /** Part of the status, in every state. */
  readonly notes: readonly string[];
  /** Schema definition of the server of a GraphQLApi that declares none. */
  readonly serverSchema?: string;
  /** Descriptor set as base64 in the file that a GraphQLApi names. */
  readonly descriptorSet?: string;
  /** Number of replacements of the files that it names; each one is a new revision of the state. */
  readonly filesRevision?: number;
}

/** Merges the observations of several observers about one resource. */
export function mergeObserved(parts: readonly (Observed | undefined)[]): Observed | undefined {
  const found = parts.filter((part) => part !== undefined);
  if (found.length <= 1) return found[0];
  const problems = found.flatMap((part) => part.problems);
  const notes = found.flatMap((part) => part.notes);
  return Object.assign({}, ...found, { problems, notes }) as Observed;
}

/** Returns the problems, placed in the document that writes the resource. */
export function observedIssues({ key, origin, locate }: Claim, { problems }: Observed): Problem[] {
  return problems.map((problem) => ({
    code: 'LEARNED',
    origin: locate?.(problem.path) ?? origin,
    ...identityOfKey(key),
    ...problem,
  }));
}

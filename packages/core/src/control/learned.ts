import type { Claim } from './claim.ts';
import type { FieldPath, Issue } from '../resource/issue.ts';

/** Something that was found out about a resource while it runs. */
export interface LearnedProblem {
  /** An error shows as `Rejected`; what is written stays in use all the same. */
  readonly severity: Issue['severity'];
  /** Field it is about. */
  readonly path: FieldPath;
  readonly message: string;
}

/** What is known of a resource beside what is written, e.g. by asking the server that it names. */
export interface Learned {
  readonly problems: readonly LearnedProblem[];
  /** Told in the status, in every state. */
  readonly notes: readonly string[];
  /** Schema definition of the server of a GraphQLApi that declares none. */
  readonly serverSchema?: string;
  /** Descriptor set as base64 in the file that a GraphQLApi names. */
  readonly descriptorSet?: string;
  /** Number of replacements of the files that it names; each one is a new revision of the state. */
  readonly filesRevision?: number;
}

/** Returns what several parties found out about one resource. */
export function mergeLearned(parts: readonly (Learned | undefined)[]): Learned | undefined {
  const found = parts.filter((part) => part !== undefined);
  if (found.length <= 1) return found[0];
  const problems = found.flatMap((part) => part.problems);
  const notes = found.flatMap((part) => part.notes);
  return Object.assign({}, ...found, { problems, notes }) as Learned;
}

/** What was learned as issues of the document that writes the resource. */
export function learnedIssues({ key, origin, locate }: Claim, { problems }: Learned): Issue[] {
  const [kind, namespace, name] = key.split('/') as [string, string, string];
  return problems.map((problem) => ({
    code: 'LEARNED',
    origin: locate?.(problem.path) ?? origin,
    kind,
    namespace,
    name,
    ...problem,
  }));
}

import { compareOrigins } from './claim.ts';
import { formatIssue, type FieldPath, type Problem } from '../resource/problem.ts';
import { identityOfKey, type Origin, type ResourceKey } from '../resource/resource.ts';
import type { Store } from './store.ts';
import type { LocatedProblem } from '../translate/status/report.ts';
import { settingsKey } from '../translate/translation-settings.ts';

/** Returns every problem of the documents and of their translation once, sorted by position. */
export function issuesOf(store: Store, translated: readonly LocatedProblem[]): readonly Problem[] {
  const { faulty, unfiled } = store.state;
  const found = new Map<string, Problem>();
  const add = (issue: Problem): void => void found.set(formatIssue(issue), issue);
  unfiled.forEach(add);
  for (const { issues } of faulty.values()) issues.forEach(add);
  for (const located of translated) add(toProblem(located, store));
  return [...found]
    .sort(([a, one], [b, other]) => compareOrigins(one.origin, other.origin) || (a < b ? -1 : 1))
    .map(([, issue]) => issue);
}

function toProblem({ key, problem }: LocatedProblem, store: Store): Problem {
  const { source, ...rest } = problem;
  const place = source ?? { key, path: problem.path };
  return { ...rest, origin: originOf(place.key, place.path, store), ...identityOfKey(key) };
}

const NOWHERE: Origin = Object.freeze({ file: 'default', line: 1, column: 1 });

/** Returns the place of a field. For a resource in an unreadable file it is that of its last good version. */
function originOf(key: ResourceKey, path: FieldPath, store: Store): Origin {
  const written = store.locate(key, path) ?? store.state.stored.get(key)?.resource?.origin;
  // Default gateways have no file; their warnings come from Settings.
  return written ?? store.locate(settingsKey(), []) ?? NOWHERE;
}

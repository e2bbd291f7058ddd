import { compareOrigins } from './claim.ts';
import { boundedProblem, formatIssue, type FieldPath, type Problem } from '../resource/problem.ts';
import { identityOfKey, KIND_NAMES, type Origin, type ResourceKey } from '../resource/resource.ts';
import type { Store } from './store.ts';
import { missingCause } from '../translate/reference/missing.ts';
import { IN_LAST_VERSION, servesLastVersion, type LocatedProblem } from '../translate/status/report.ts';
import { settingsKey } from '../translate/translation-settings.ts';

/** Returns every problem of the documents and of their translation once, sorted by position. */
export function issuesOf(store: Store, translated: readonly LocatedProblem[]): readonly Problem[] {
  const { faulty, stored, unfiled } = store.state;
  const found = new Map<string, Problem>();
  const add = (issue: Problem): void => {
    const bounded = boundedProblem(issue);
    found.set(formatIssue(bounded), bounded);
  };
  unfiled.forEach(add);
  for (const [key, { issues }] of faulty) {
    const used = stored.get(key);
    const isKept = used !== undefined && servesLastVersion(used);
    for (const issue of issues) add(isKept ? { ...issue, effect: 'keeps-last-good' } : issue);
  }
  const rejected = rejectedByCause(unfiled);
  for (const located of translated) add(toProblem(located, store, rejected));
  return [...found]
    .sort(([a, one], [b, other]) => compareOrigins(one.origin, other.origin) || (a < b ? -1 : 1))
    .map(([, issue]) => issue);
}

/** The hint of a reference to a document that was rejected before its kind and name were known. */
const IS_REJECTED = 'a document with this name is rejected, see its own problem';

function toProblem({ key, problem }: LocatedProblem, store: Store, rejected: ReadonlySet<string>): Problem {
  const { source, ...rest } = problem;
  const place = source ?? { key, path: problem.path };
  const stored = store.state.stored.get(place.key);
  const isOfLastVersion = stored !== undefined && servesLastVersion(stored);
  const hint = isOfLastVersion ? IN_LAST_VERSION : rejected.has(rest.cause ?? '') ? IS_REJECTED : rest.hint;
  const origin = originOf(place.key, isOfLastVersion ? [] : place.path, store);
  return { ...rest, ...(hint !== undefined && { hint }), origin, ...identityOfKey(key) };
}

/** Returns the causes of references to missing resources whose documents may be among the rejected ones. */
function rejectedByCause(unfiled: readonly Problem[]): ReadonlySet<string> {
  const causes = new Set<string>();
  for (const { name, namespace, severity } of unfiled) {
    if (severity !== 'error' || !name || !namespace) continue;
    for (const kind of KIND_NAMES) causes.add(missingCause(kind, { name, namespace }));
  }
  return causes;
}

const NOWHERE: Origin = Object.freeze({ file: 'default', line: 1, column: 1 });

/** Returns the place of a field. For a resource in an unreadable file it is that of its last good version. */
function originOf(key: ResourceKey, path: FieldPath, store: Store): Origin {
  const written = store.locate(key, path) ?? store.state.stored.get(key)?.resource?.origin;
  // Default gateways have no file; their warnings come from Settings.
  return written ?? store.locate(settingsKey(), []) ?? NOWHERE;
}

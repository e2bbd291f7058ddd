import type { Problem } from '../resource/problem.ts';
import type { ResourceKey } from '../resource/resource.ts';
import type { Source, SourceChange } from '../source/source.ts';
import type { DefaultGateways } from '../translate/listener/gateways.ts';
import type { Memo } from '../translate/memo.ts';
import { translate } from '../translate/translate.ts';
import { issuesOf } from './problems.ts';
import type { Store } from './store.ts';

/** The effect of a change on the problems of all resources. */
export interface ChangePreview {
  /** Problems that the change would cause, of any resource. */
  readonly added: readonly Problem[];
  /** Problems that changed resources have now, and would keep. */
  readonly kept: readonly Problem[];
}

/** The current state. */
interface PreviewBase {
  readonly store: Store;
  readonly issues: readonly Problem[];
  readonly memo: Memo;
  readonly kinds: Source['kinds'];
  readonly defaultGateways: DefaultGateways | undefined;
}

/** Validates and translates a change without applying it: the same validation and translation as of a change that is applied. */
export function previewChange(
  change: SourceChange,
  { store, issues, memo, kinds, defaultGateways }: PreviewBase,
): ChangePreview {
  return store.preview(change, (changed) => {
    const { stored, services } = store.state;
    // Results of the candidate must not replace those of the resources in use.
    const own = { ...memo, derived: memo.derived.fork() };
    const { problems } = translate({ stored, services, kinds, defaultGateways, problemsOnly: true }, own);
    return compare(issues, issuesOf(store, problems), ({ kind, namespace, name }) =>
      changed.has(`${kind}/${namespace}/${name}` as ResourceKey),
    );
  });
}

/** Problems are the same if their paths differ only in list indices: the problems of the routes after a deleted one are not new. */
function compare(
  before: readonly Problem[],
  now: readonly Problem[],
  isOfChanged: (problem: Problem) => boolean,
): ChangePreview {
  const counts = new Map<string, number>();
  for (const problem of before) counts.set(identityOf(problem), (counts.get(identityOf(problem)) ?? 0) + 1);
  const added: Problem[] = [];
  const kept: Problem[] = [];
  for (const problem of now) {
    const identity = identityOf(problem);
    const left = counts.get(identity) ?? 0;
    counts.set(identity, left - 1);
    if (left <= 0) added.push(problem);
    else if (isOfChanged(problem)) kept.push(problem);
  }
  return { added, kept };
}

function identityOf({ severity, code, kind, namespace, name, path, cause, message }: Problem): string {
  const fields = path.filter((step) => typeof step === 'string');
  return JSON.stringify([severity, code, kind, namespace, name, fields, cause ?? message]);
}

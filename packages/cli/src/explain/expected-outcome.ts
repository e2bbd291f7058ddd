import type { Explanation } from '@edge-gateway/routing';
import { dependsOnExtAuth, type AccessExplanation } from './access.ts';
import type { ExpectedOutcome } from './request-arguments.ts';
import { isForwarded, outcomeText, statusOf } from './outcome-text.ts';

/** Returns how the outcome differs from the expected one, in one line; `undefined` if it is certain to be the same. */
export function outcomeMismatch(
  { outcome, access }: Pick<Explanation, 'outcome'> & { readonly access?: AccessExplanation },
  expected: ExpectedOutcome,
): string | undefined {
  const is = `expected ${expected}`;
  if (dependsOnExtAuth(access)) {
    const by = access?.extauth?.authConfig === undefined ? '' : ` of AuthConfig ${access.extauth.authConfig}`;
    const { notEvaluated } = access?.extauth ?? {};
    const why = notEvaluated === undefined ? '' : `: ${notEvaluated}`;
    return `${is}, but the outcome is not known: it depends on external auth${by}, which is not evaluated${why}`;
  }
  const isSame = expected === 'forwarded' ? isForwarded(outcome) : statusOf(outcome) === expected;
  return isSame ? undefined : `${is}, found ${outcomeText(outcome)}`;
}

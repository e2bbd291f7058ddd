import type { Explanation } from '@edge-gateway/routing';
import { cliError } from '../error-codes.ts';
import { dependsOnExtAuth, type AccessExplanation } from './access.ts';
import { isForwarded, outcomeText, statusOf } from './outcome-text.ts';

/** The status of a response from the gateway itself, or `forwarded`. */
export type ExpectedOutcome = number | 'forwarded';

/** Parses the value of `--expect-status`. Throws `ERR_CLI_USAGE` unless it is a status or `forwarded`. */
export function parseExpectedOutcome(written: string): ExpectedOutcome {
  if (written === 'forwarded') return written;
  if (/^[1-9]\d\d$/.test(written)) return Number(written);
  throw cliError(
    'ERR_CLI_USAGE',
    `invalid --expect-status '${written}': must be a status from 100 to 999, or forwarded`,
  );
}

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

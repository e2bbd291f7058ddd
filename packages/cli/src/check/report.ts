/** What the checks found, check by check. */
export interface CheckResult {
  readonly name: string;
  readonly problems: readonly string[];
}

/** `OK`, or `N Errors!`. */
export function statusOf(result: CheckResult): string {
  return result.problems.length === 0 ? 'OK' : `${result.problems.length} Errors!`;
}

/** The tree of problems: `N errors occurred:` and a tab-indented `* …` line each; several checks are nested. */
export function errorTree(results: readonly CheckResult[]): string {
  const failed = results.filter(({ problems }) => problems.length > 0);
  const groups = failed.map(({ problems }) => (problems.length > 1 ? listing(problems) : problems[0]!));
  return failed.length === 1 ? listing(failed[0]!.problems) : listing(groups);
}

function listing(problems: readonly string[]): string {
  const lines = problems.map((problem) => `\t* ${problem.replaceAll('\n', '\n\t  ').replaceAll('\t  \t', '\t\t')}`);
  return [`${problems.length} ${problems.length === 1 ? 'error' : 'errors'} occurred:`, ...lines].join('\n');
}

/** The output of `check -o json`; empty lists are `null`. */
export function jsonReport(results: readonly CheckResult[], messages: readonly string[]): string {
  const errors = results.flatMap(({ problems }) => problems);
  const resources = results.map((result) => ({ name: result.name, status: statusOf(result) }));
  const orNull = <T>(list: readonly T[]) => (list.length > 0 ? list : null);
  return JSON.stringify(
    { resources: orNull(resources), messages: orNull(messages), errors: orNull(errors) },
    undefined,
    2,
  );
}

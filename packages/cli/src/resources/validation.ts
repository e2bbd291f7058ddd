import { formatIssue, type ControlPlaneState, type Problem } from '@edge-gateway/core';

/** The result of `validate`. */
export interface Validation {
  readonly resources: number;
  readonly problems: readonly Problem[];
}

/** Options of the validation of a directory. */
export interface ValidationRules {
  /** Reports references to missing resources as warnings: they may be in another directory. */
  readonly allowMissing?: boolean;
}

/** Returns every problem of a loaded directory, sorted by file and line. A reference to a missing resource is an error. */
export function validationOf(state: ControlPlaneState, { allowMissing = false }: ValidationRules = {}): Validation {
  const keys = new Set([...state.resources.keys(), ...state.statuses.keys()]);
  const resources = [...keys].filter((key) => !key.startsWith('Proxy/')).length;
  const problems = state.issues.map((issue): Problem => {
    if (issue.code !== 'MISSING_REFERENCE') return issue;
    return { ...issue, severity: allowMissing ? 'warning' : 'error' };
  });
  return { resources, problems };
}

/** A problem as one line. */
export function problemLine(issue: Problem): string {
  return formatIssue(issue).replaceAll(/\s*\n\s*/g, ' ');
}

import { formatIssue, type ControlPlaneState, type Issue } from '@edge-gateway/core';

/** All that `validate` tells of a directory. */
export interface Validation {
  readonly resources: number;
  readonly problems: readonly Issue[];
}

/** How a directory is judged. */
export interface ValidationRules {
  /** References to resources that the directory does not have are warnings: another directory may have them. */
  readonly allowMissing?: boolean;
}

/** Every problem of a loaded directory, sorted by file and line. A reference that leads nowhere is an error. */
export function validationOf(state: ControlPlaneState, { allowMissing = false }: ValidationRules = {}): Validation {
  const keys = new Set([...state.resources.keys(), ...state.statuses.keys()]);
  const resources = [...keys].filter((key) => !key.startsWith('Proxy/')).length;
  const problems = state.issues.map((issue): Issue => {
    if (issue.code !== 'MISSING_REFERENCE') return issue;
    return { ...issue, severity: allowMissing ? 'warning' : 'error' };
  });
  return { resources, problems };
}

/** A problem as one line. */
export function problemLine(issue: Issue): string {
  return formatIssue(issue).replaceAll(/\s*\n\s*/g, ' ');
}

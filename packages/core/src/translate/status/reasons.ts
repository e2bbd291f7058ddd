import { isSemantic } from '../../resource/problem-codes.ts';
import type { Problem } from '../../resource/problem.ts';
import type { StoredResource } from '../../resource/stored.ts';
import { routeMessage, virtualHostMessage, type RouteProblem, type VirtualHostProblem } from './messages.ts';
import { issueText } from '../reference/find.ts';

const ROUTE_KINDS: Readonly<Record<string, RouteProblem>> = { INVALID_MATCHER: 'InvalidMatcherError' };
const HOST_KINDS: Readonly<Record<string, VirtualHostProblem>> = { EMPTY_DOMAIN: 'EmptyDomainError' };

/**
 * Returns an issue as text for a status: semantic problems in the form of their part, others with their field.
 * File positions are omitted, because a status may be read without access to the files.
 */
export function reasonOf(issue: Problem, stored: StoredResource | undefined): string {
  if (issue.severity === 'warning' || !isSemantic(issue.code)) return issueText(issue);
  const { path } = issue;
  const at = path.indexOf('routes');
  if (at >= 0 && typeof path[at + 1] === 'number') {
    return routeMessage(
      ROUTE_KINDS[issue.code] ?? 'ProcessingError',
      issue.message,
      routeLabel(issue, path[at + 1] as number),
    );
  }
  if (path[1] === 'virtualHost') return virtualHostMessage(HOST_KINDS[issue.code] ?? 'ProcessingError', issue.message);
  return stored ? issueText(issue) : issue.message;
}

function routeLabel(issue: Problem, index: number): string {
  return (issue as Problem & { readonly route?: string }).route || `<unnamed-${index}>`;
}

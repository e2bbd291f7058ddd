import { isSemantic } from '../../resource/problem-codes.ts';
import type { Problem } from '../../resource/problem.ts';
import type { StoredResource } from '../../resource/stored.ts';
import { issueText } from '../reference/find.ts';

/** Kinds of problems by part (reference: routing 7.2). */
interface Kinds {
  Listener: 'BindPortNotUniqueError' | 'SSLConfigError' | 'SSLConfigWarning' | 'ProcessingError';
  VirtualHost:
    | 'DomainsNotUniqueError'
    | 'EmptyDomainError'
    | 'NameNotUniqueError'
    | 'ProcessingError'
    | 'ProcessingWarning';
  TcpHost: 'SSLConfigError' | 'InvalidDestinationWarning';
  Route: 'InvalidMatcherError' | 'ProcessingError' | 'InvalidDestinationWarning' | 'ProcessingWarning';
}

function message<P extends keyof Kinds>(part: P, kind: Kinds[P], reason: string): string {
  return `${part} ${kind.endsWith('Warning') ? 'Warning' : 'Error'}: ${kind}. Reason: ${reason}`;
}

export function listenerMessage(kind: Kinds['Listener'], reason: string): string {
  return message('Listener', kind, reason);
}

export function virtualHostMessage(kind: Kinds['VirtualHost'], reason: string): string {
  return message('VirtualHost', kind, reason);
}

export function tcpHostMessage(kind: Kinds['TcpHost'], reason: string, host: string): string {
  return `${message('TcpHost', kind, reason)}. Host Name: ${host}`;
}

export function routeMessage(kind: Kinds['Route'], reason: string, route: string): string {
  return `${message('Route', kind, reason)}. Route Name: ${route}`;
}

/**
 * Returns an issue as text for a status: semantic problems in the form of their part, others with their field.
 * File positions are omitted, because a status may be read without access to the files.
 */
export function reasonOf(issue: Problem, stored: StoredResource | undefined): string {
  if (issue.severity === 'warning' || !isSemantic(issue.code)) return issueText(issue);
  const { path } = issue;
  const at = path.indexOf('routes');
  if (at >= 0 && typeof path[at + 1] === 'number') {
    const kind = issue.code === 'INVALID_MATCHER' ? 'InvalidMatcherError' : 'ProcessingError';
    return routeMessage(kind, issue.message, issue.route || `<unnamed-${path[at + 1]}>`);
  }
  if (path[1] === 'virtualHost') {
    return virtualHostMessage(issue.code === 'EMPTY_DOMAIN' ? 'EmptyDomainError' : 'ProcessingError', issue.message);
  }
  return stored ? issueText(issue) : issue.message;
}

/** Kinds of listener problems (reference: routing 7.2). */
export type ListenerProblem = 'BindPortNotUniqueError' | 'SSLConfigError' | 'SSLConfigWarning' | 'ProcessingError';
/** Kinds of virtual host problems. */
export type VirtualHostProblem =
  | 'DomainsNotUniqueError'
  | 'EmptyDomainError'
  | 'NameNotUniqueError'
  | 'ProcessingError';
/** Kinds of route problems. */
export type RouteProblem =
  | 'InvalidMatcherError'
  | 'ProcessingError'
  | 'InvalidDestinationWarning'
  | 'ProcessingWarning';

export function listenerMessage(kind: ListenerProblem, reason: string): string {
  return `Listener ${level(kind)}: ${kind}. Reason: ${reason}`;
}

export function virtualHostMessage(kind: VirtualHostProblem, reason: string): string {
  return `VirtualHost ${level(kind)}: ${kind}. Reason: ${reason}`;
}

export function routeMessage(kind: RouteProblem, reason: string, route: string): string {
  return `Route ${level(kind)}: ${kind}. Reason: ${reason}. Route Name: ${route}`;
}

function level(kind: string): 'Error' | 'Warning' {
  return kind.endsWith('Warning') ? 'Warning' : 'Error';
}

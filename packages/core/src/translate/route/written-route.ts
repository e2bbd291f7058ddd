import type { Route } from '../../contract/snapshot.ts';
import type { FieldPath } from '../../resource/problem.ts';
import type { ResourceRef } from '../../resource/resource.ts';

/** Where a route is written. */
export interface WrittenRoute {
  readonly kind: 'VirtualService' | 'RouteTable';
  readonly ref: ResourceRef;
  /** Its path in that resource. */
  readonly at: FieldPath;
  /** The route that delegates to it, whose options it inherits. */
  readonly above: WrittenRoute | undefined;
}

/** Not part of a snapshot: it changes when only the position of a route does. */
const written = new WeakMap<Route, WrittenRoute>();

/** Records where a route of a snapshot is written. */
export function recordWritten(route: Route, place: WrittenRoute | undefined): void {
  if (place) written.set(route, place);
}

/** Returns where a route of a snapshot is written; `undefined` for one that was received from elsewhere. */
export function writtenRoute(route: Route): WrittenRoute | undefined {
  return written.get(route);
}

import type { Duplex } from 'node:stream';
import type { Next } from '@edge-gateway/core';
import type { CompiledAction, CompiledDestination } from '../route/compile/route.ts';
import type { RoutedRequest } from './routed-request.ts';

/** How requests leave the router. */
export interface RequestExits {
  /** Sends a request upstream; `plan` and `destination` are chosen. */
  send(request: RoutedRequest, destination: CompiledDestination, action: ForwardAction): void;
  /** Set if the request is an upgrade. */
  readonly upgrade?: UpgradeSocket;
  /** Set if requests that no route matches are passed on. */
  readonly passOn: Next | undefined;
  /** True in a user's own server, where earlier handlers may have decided based on the original path. */
  readonly embedded: boolean;
}

/** The action of a route that goes upstream. */
export type ForwardAction = Extract<CompiledAction, { readonly type: 'forward' }>;

/** The action of a route that a package responds to. */
export type RespondAction = Extract<CompiledAction, { readonly type: 'respond' }>;

/** The socket of an upgrade, and the bytes behind its head. */
export interface UpgradeSocket {
  readonly socket: Duplex;
  readonly head: Buffer;
}

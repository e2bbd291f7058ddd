import type { Socket } from 'node:net';
import type { LocalEnd } from './local-end.ts';

/** A connection that began with a PROXY header. */
export interface Proxied {
  /** The peer that sent the header: a load balancer. */
  readonly peer: LocalEnd;
  /** Fields of the header that rules store, by metadata namespace. */
  readonly metadata: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
}

/** Both ends of the connection between the client and the load balancer. */
export interface ProxiedEnds {
  readonly source: LocalEnd;
  readonly destination: LocalEnd;
}

/** The part of a TCP handle that knows its addresses. The handle of TLS above it asks this one. */
interface Handle {
  getpeername(out: object): number;
  getsockname(out: object): number;
}

const PROXIED = Symbol('edge-gateway.proxied');
type Carrier = Socket & { [PROXIED]?: Proxied | undefined; readonly _handle?: Handle | null };

/** Has a socket, and TLS above it, report these addresses as its own. */
export function setProxied(socket: Carrier, proxied: Proxied, ends: ProxiedEnds | undefined): void {
  socket[PROXIED] = proxied;
  const handle = socket._handle;
  if (!handle) return;
  const own = handle.getpeername.bind(handle);
  handle.getpeername = (out) => {
    const status = ends ? (Object.assign(out, addressOf(ends.source)), 0) : own(out);
    Object.assign(out, { [PROXIED]: proxied });
    return status;
  };
  if (!ends) return;
  handle.getsockname = (out) => (Object.assign(out, addressOf(ends.destination)), 0);
  // The socket itself may have cached its addresses.
  const { source, destination } = ends;
  Object.defineProperties(socket, {
    remoteAddress: { value: source.address },
    remotePort: { value: source.port },
    remoteFamily: { value: familyOf(source) },
    localAddress: { value: destination.address },
    localPort: { value: destination.port },
    localFamily: { value: familyOf(destination) },
  });
}

/** Copies what the PROXY header said to a TLS socket, which knows only the handle below it. */
export function adoptProxied(socket: Carrier): void {
  const out: { [PROXIED]?: Proxied } = {};
  socket._handle?.getpeername(out);
  socket[PROXIED] ??= out[PROXIED];
}

/** Returns what the PROXY header of a connection said; `undefined` without one. */
export const proxiedOf = (socket: Carrier): Proxied | undefined => socket[PROXIED];

const familyOf = ({ address }: LocalEnd): string => (address.includes(':') ? 'IPv6' : 'IPv4');
const addressOf = (end: LocalEnd) => ({ ...end, family: familyOf(end) });

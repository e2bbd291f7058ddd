import type { IncomingMessage } from 'node:http';
import { connectionOf, type ClientConnection } from './client-connection.ts';
import type { Identity } from './identity.ts';
import type { CookieTest } from '../http/cookie-names.ts';

/** A change to a message head, recorded by a concern and applied when the head is written. Names are lower case. */
export type HeaderChange =
  | {
      readonly op: 'set';
      readonly name: string;
      readonly value: string;
      /** Of a response: only where the header is not there, or is there. Default: always. */
      readonly where?: 'absent' | 'present';
    }
  | { readonly op: 'append'; readonly name: string; readonly value: string }
  | { readonly op: 'remove'; readonly name: string };

/** What a concern has read of a request's body. It was put back, so that the stream still gives all of it. */
export interface ReadBody {
  readonly bytes: Buffer;
  /** False when the body goes on. */
  readonly whole: boolean;
}

/** What the gateway knows of one request, shared by all concerns. */
export interface Facts {
  requestId: string;
  /** The one canonical path (with query) that matching, policies and the upstream see. */
  path: string;
  /** Upper case; what the upstream gets. */
  method: string;
  /** Name of the matched route, empty before it is known. */
  routeName: string;
  /** Cluster name of the chosen upstream, empty when there is none. */
  upstream: string;
  /** Claims of verified tokens, by provider. */
  readonly claims: Map<string, Readonly<Record<string, unknown>>>;
  /** Dynamic metadata, by namespace. */
  readonly metadata: Map<string, Record<string, unknown>>;
  /** The identity of the client; `undefined` before a handler authenticated the request. */
  identity: Identity | undefined;
  /** Logout path of the user; `undefined` without a login. */
  logoutPath: string | undefined;
  readonly requestChanges: HeaderChange[];
  readonly responseChanges: HeaderChange[];
  /**
   * The request headers as the gateway took them in, flat with lower-case names: cleaned of hop-by-hop headers and of
   * forged ones. `undefined` in a user's own server, where those of the request count.
   */
  headers: readonly string[] | undefined;
  /**
   * The client and its connection. The gateway sets it according to its listener's settings; in a user's own server it is read from
   * the socket or from the values of Express.
   */
  connection: ClientConnection;
  /** Set by a concern that read of the body. */
  body: ReadBody | undefined;
  /** Cookies that only a login reads. Every concern sees them; they are not forwarded to the destination. */
  hiddenCookies: CookieTest | undefined;
  /** Set by a concern after which the route is chosen again, by the headers and the path as they are then. */
  reroute: boolean;
  /** A request header as it will be after the recorded changes; several values joined with `, ` (cookies with `; `). */
  header(name: string): string | undefined;
}

const FACTS = Symbol('edge-gateway.facts');

class RequestFacts implements Facts {
  requestId = '';
  path: string;
  method: string;
  routeName = '';
  upstream = '';
  readonly claims = new Map<string, Readonly<Record<string, unknown>>>();
  readonly metadata = new Map<string, Record<string, unknown>>();
  identity: Identity | undefined = undefined;
  logoutPath: string | undefined = undefined;
  readonly requestChanges: HeaderChange[] = [];
  readonly responseChanges: HeaderChange[] = [];
  headers: readonly string[] | undefined = undefined;
  body: ReadBody | undefined = undefined;
  hiddenCookies: CookieTest | undefined = undefined;
  reroute = false;
  readonly #request: IncomingMessage;
  #connection: ClientConnection | undefined;

  constructor(request: IncomingMessage) {
    this.#request = request;
    this.path = request.url ?? '/';
    this.method = request.method ?? 'GET';
  }

  get connection(): ClientConnection {
    return (this.#connection ??= connectionOf(this.#request));
  }

  set connection(connection: ClientConnection) {
    this.#connection = connection;
  }

  header(name: string): string | undefined {
    const lower = name.toLowerCase();
    let value = this.headers ? joined(this.headers, lower) : this.#written(lower);
    for (const change of this.requestChanges) {
      if (change.name !== lower) continue;
      if (change.op === 'remove') value = undefined;
      else if (change.op === 'set' || value === undefined) value = change.value;
      else value = value + separatorOf(lower) + change.value;
    }
    return value;
  }

  #written(lower: string): string | undefined {
    const written = this.#request.headers[lower];
    return Array.isArray(written) ? written.join(separatorOf(lower)) : written;
  }
}

/** Cookies are the one list that goes on with a semicolon (RFC 6265, RFC 9113 8.2.3). */
function separatorOf(lower: string): string {
  return lower === 'cookie' ? '; ' : ', ';
}

function joined(flat: readonly string[], lower: string): string | undefined {
  let value: string | undefined;
  for (let i = 0; i < flat.length; i += 2) {
    if (flat[i] === lower) value = value === undefined ? flat[i + 1]! : value + separatorOf(lower) + flat[i + 1]!;
  }
  return value;
}

/** The facts of a request; made at the first call, the same object from then on. */
export function factsOf(request: IncomingMessage): Facts {
  const carrier = request as IncomingMessage & { [FACTS]?: Facts };
  return (carrier[FACTS] ??= new RequestFacts(request));
}

/** Applies header changes to a flat `[name, value, …]` list and gives the changed list; the input stays. */
export function applyHeaderChanges(flat: readonly string[], changes: readonly HeaderChange[]): string[] {
  let out = flat.slice();
  for (const change of changes) {
    if (change.op !== 'append') {
      const kept: string[] = [];
      for (let i = 0; i < out.length; i += 2) {
        if (out[i]!.toLowerCase() !== change.name) kept.push(out[i]!, out[i + 1]!);
      }
      out = kept;
    }
    if (change.op !== 'remove') out.push(change.name, change.value);
  }
  return out;
}

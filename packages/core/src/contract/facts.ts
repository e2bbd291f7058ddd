import type { RequestSpans } from './request-spans.ts';
import type { IncomingMessage } from 'node:http';
import { connectionOf, type ClientConnection } from './client-connection.ts';
import type { ComplexityCharge, OperationCharge } from './complexity-charge.ts';
import type { Identity } from './identity.ts';
import type { CookieTest } from '../http/cookie-names.ts';

/**
 * A change to a message head, recorded by a concern and applied when the head is written. Names are lower case. Values are written one byte for
 * each character: text beyond ASCII needs `toByteString`.
 */
export type HeaderChange =
  | {
      readonly op: 'set';
      readonly name: string;
      readonly value: string;
      /** For responses: only if the header is absent, or present. Default: always. */
      readonly where?: 'absent' | 'present';
    }
  | { readonly op: 'append'; readonly name: string; readonly value: string }
  | { readonly op: 'remove'; readonly name: string };

/** The part of a request's body that a concern has read. It was restored, so that the stream still yields all of it. */
export interface ReadBody {
  readonly bytes: Buffer;
  /** False if more of the body follows. */
  readonly whole: boolean;
}

/** Masks values in access logs. */
export interface LogMask {
  /** Returns the value of a header or of metadata as a log may show it; both values are byte strings. `name` is `:path` for the path. */
  maskNamed(name: string, value: string): string;
}

const FACTS = Symbol('edge-gateway.facts');

/** Facts about one request, shared by all concerns; see {@link factsOf}. */
export class Facts {
  requestId = '';
  /** The canonical path (with query) that matching, policies and the upstream use. */
  path: string;
  /** The path before it was rewritten for the upstream; `undefined` until then. */
  routedPath: string | undefined = undefined;
  /** Upper case; as sent to the upstream. */
  method: string;
  /** Name of the matched route; empty before it is known. */
  routeName = '';
  /** Cluster name of the selected upstream; empty if there is none. */
  upstream = '';
  /** The identity of the client; `undefined` before a handler authenticated the request. */
  identity: Identity | undefined = undefined;
  /** True once a policy that restricts access has let the request pass: the response may be for this client only. */
  isGuarded = false;
  /** Logout path of the user; `undefined` without a login. */
  logoutPath: string | undefined = undefined;
  /**
   * Returns false once the session has ended that authenticated the request; rejects if that is unknown at present. `undefined` without a session, or if
   * another program keeps it. See `watchAuthentication`.
   */
  isSessionOpen: (() => Promise<boolean>) | undefined = undefined;
  readonly requestChanges: HeaderChange[] = [];
  readonly responseChanges: HeaderChange[] = [];
  /**
   * The request headers that the gateway received, flat with lower-case names, without hop-by-hop headers and
   * forged ones. `undefined` in a user's own server, where those of the request are used.
   */
  headers: readonly string[] | undefined = undefined;
  /** Maximum size of a body that a concern reads as a whole, in bytes. */
  bufferLimitBytes = 1_048_576;
  /** True if the listener forwards trailers. */
  passesTrailers = false;
  /** Names of headers that only the gateway sets, as `canonicalName` writes them: trailers of the client with these names are dropped. */
  guardedNames: ReadonlySet<string>[] | undefined = undefined;
  /** Set by a concern whose response filter reads the trailers; they are not forwarded then. */
  readsTrailers = false;
  /** Metadata of the chosen host, by namespace. */
  hostMetadata: Readonly<Record<string, unknown>> | undefined = undefined;
  /** Set by a concern that read a part of the body. */
  body: ReadBody | undefined = undefined;
  /** Cookies that only a login reads. Every concern sees them; they are not forwarded to the destination. */
  hiddenCookies: CookieTest | undefined = undefined;
  /** Response flags for access logs that a concern adds to those of the response, e.g. `DI` for an injected delay. */
  responseFlags = '';
  /** Spans for calls of a responder; `undefined` without tracing of the listener. */
  spans: RequestSpans | undefined = undefined;
  /** Name of the span of the request; `undefined` keeps that of the route. */
  spanName: string | undefined = undefined;
  /** Masks the access log of this request; `undefined` masks only headers whose name marks them as secret. */
  logMask: LogMask | undefined = undefined;
  /** Set by a concern to select the route again, by the current headers and path. */
  reroute = false;
  /**
   * Charges of concerns that depend on the complexity of the operation. An action that computes it runs them before each execution, by
   * `chargeComplexity`. `undefined` if the action computes none.
   */
  complexityCharges: ComplexityCharge[] | undefined = undefined;
  /**
   * Charges of concerns for each operation of the WebSocket that this request opens, besides those of the request itself and by complexity. What serves the
   * operations runs them, by `chargeOperation`. `undefined` if nothing reads single operations.
   */
  operationCharges: OperationCharge[] | undefined = undefined;
  readonly #request: IncomingMessage;
  #connection: ClientConnection | undefined;
  // Few requests need them.
  #claims: Map<string, Readonly<Record<string, unknown>>> | undefined;
  #metadata: Map<string, Record<string, unknown>> | undefined;

  constructor(request: IncomingMessage) {
    this.#request = request;
    this.path = request.url ?? '/';
    this.method = request.method ?? 'GET';
  }

  /** Claims of verified tokens, by provider. */
  get claims(): Map<string, Readonly<Record<string, unknown>>> {
    return (this.#claims ??= new Map());
  }

  /** Dynamic metadata, by namespace. */
  get metadata(): Map<string, Record<string, unknown>> {
    return (this.#metadata ??= new Map());
  }

  /**
   * The client and its connection. The gateway sets it according to its listener's settings; in a user's own server it is read from
   * the socket or from the values of Express.
   */
  get connection(): ClientConnection {
    return (this.#connection ??= connectionOf(this.#request));
  }

  set connection(connection: ClientConnection) {
    this.#connection = connection;
  }

  /** Returns a request header after the recorded changes; several values joined with `, ` (cookies with `; `). */
  header(name: string): string | undefined {
    const lower = name.toLowerCase();
    let value = this.headers ? headerIn(this.headers, lower) : this.#written(lower);
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

/** Only cookies are joined with a semicolon (RFC 6265, RFC 9113 8.2.3). */
function separatorOf(lower: string): string {
  return lower === 'cookie' ? '; ' : ', ';
}

/** Returns a header of a flat list; several values joined with `, ` (cookies with `; `). `lower` is in lower case, as the names. */
export function headerIn(flat: readonly string[], lower: string): string | undefined {
  let value: string | undefined;
  for (let i = 0; i < flat.length; i += 2) {
    if (flat[i] === lower) value = value === undefined ? flat[i + 1]! : value + separatorOf(lower) + flat[i + 1]!;
  }
  return value;
}

/**
 * Returns the facts of a request: created at the first call, the same object afterwards. Changes of headers that a handler records there are
 * applied before the next handler in your own server, and when the head is written in the gateway.
 *
 * @example
 * const team: Handler = function team(req, _res, next) {
 *   factsOf(req).requestChanges.push({ op: 'set', name: 'x-team', value: toByteString(identityOf(req)?.groups[0] ?? 'none') });
 *   next();
 * };
 */
export function factsOf(request: IncomingMessage): Facts {
  const carrier = request as IncomingMessage & { [FACTS]?: Facts };
  return (carrier[FACTS] ??= new Facts(request));
}

/** Returns a flat `[name, value, …]` list with header changes applied; the input is not changed. */
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

/**
 * Returns the identity that `jwt`, `oidc` or `extauth` verified, `undefined` if none of them did. Of several
 * the last one wins. A client cannot forge it, unlike a header that no handler removes.
 *
 * @example
 * app.get('/me', (req, res) => {
 *   res.json({ subject: identityOf(req)?.subject, groups: identityOf(req)?.groups });
 * });
 */
export function identityOf(req: IncomingMessage): Identity | undefined {
  return factsOf(req).identity;
}

import type { ClientConnection } from './client-connection.ts';
import type { Context } from './concern.ts';
import type { HeaderChange } from './facts.ts';
import type { Identity } from './identity.ts';
import type { CookieTest } from '../http/cookie-names.ts';
import type { ReplyBody } from '../http/reply-body.ts';
import type { PageContent } from '../page/pages.ts';

/** The view of a request for auth methods. They never receive the request itself, so that any server can call them. */
export interface AuthRequest {
  readonly requestId: string;
  /** Name of the matched route; empty for one without a name. */
  readonly routeName?: string;
  /** The facts about the route that auth servers receive: `config_id`, `source_type`, `source_name`. Default: none. */
  readonly contextExtensions?: Readonly<Record<string, string>>;
  /** Upper case. */
  readonly method: string;
  readonly scheme: 'http' | 'https';
  /** As in `Host`. */
  readonly host: string;
  /** Canonical path with query. */
  readonly path: string;
  /** A request header after the recorded changes; several values joined with `, ` (cookies with `; `). */
  header(name: string): string | undefined;
  /** All request headers as flat `[name, value, …]`, names in lower case. */
  headers(): readonly string[];
  /** Address of the client without port; behind trusted proxies the forwarded address. */
  readonly clientAddress: string;
  /** Ports, local address and protocol, for auth servers that receive them. */
  readonly connection?: ClientConnection;
  /** Names of the TLS connection; `undefined` without TLS. */
  tls?(): TlsNames | undefined;
  /** `Content-Length` of the request; missing without one. */
  readonly contentLength?: string;
  /** The body, if the settings include it (`requestBody`). */
  readonly body?: Buffer;
  /** True if more of the body follows (`requestBody.allowPartialMessage`). */
  readonly isPartialBody?: true;
  /** True: sends the body to servers as bytes instead of text (`requestBody.packAsBytes`). */
  readonly packAsBytes?: true;
  /** State of earlier methods, passed along the chain (reference: security 1.1). */
  readonly state: Readonly<Record<string, unknown>>;
  /** Dynamic metadata by namespace. */
  readonly metadata: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
  /** Aborts at the timeout, or when the client disconnects. */
  readonly signal?: AbortSignal;
}

/** The names that the ends of a TLS connection presented, each empty if there is none. */
export interface TlsNames {
  /** Name that the client asked for (SNI). */
  readonly serverName: string;
  /** Of the verified certificate of the client: its first URI, else its first DNS name, else its subject. */
  readonly client: string;
  /** The same of the certificate of the server. */
  readonly server: string;
}

/** A change of a query parameter. Names are compared decoded. */
export type QueryChange =
  | { readonly op: 'set'; readonly name: string; readonly value: string }
  | { readonly op: 'remove'; readonly name: string };

/** The request is allowed. Granted values go to the upstream request, to the client's response, and along the chain. */
export interface AuthAllowed {
  readonly allowed: true;
  readonly requestChanges?: readonly HeaderChange[];
  readonly responseChanges?: readonly HeaderChange[];
  /** Applied in order. All later steps see the resulting path. */
  readonly queryChanges?: readonly QueryChange[];
  /** The user, for `userIdHeader`. */
  readonly userId?: string;
  /** Logout path of the signed-in user, for the page of a 403. */
  readonly logoutPath?: string;
  /** Returns false once the session of the user has ended, for connections that stay open; see `Facts`. */
  readonly isSessionOpen?: () => Promise<boolean>;
  /** Claims of the verified token, for `identityOf`. */
  readonly claims?: Readonly<Record<string, unknown>>;
  /** Derived from `userId` and `claims` by the caller of the method; the last step with either of them wins. */
  readonly identity?: Identity;
  /** Merged into the state; its values win. */
  readonly state?: Readonly<Record<string, unknown>>;
  /** Replaces the whole state; `state` is merged into it. */
  readonly newState?: Readonly<Record<string, unknown>>;
  /** Stored under `envoy.filters.http.ext_authz` → name of the config. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** The request is denied with this response. `redirect` marks a redirect to the login. */
export interface AuthDenied {
  readonly allowed: false;
  readonly status: number;
  /** Flat `[name, value, …]`. */
  readonly headers?: readonly string[];
  readonly body?: ReplyBody;
  /** A page for browsers instead of `body`, with its headers. */
  readonly page?: PageContent;
  /** Allowed target of a form on the page, in addition to this origin. */
  readonly formAction?: string;
  readonly redirect?: boolean;
  /**
   * Set if the check came to no decision: a negated step (`!`) then does not pass. `failureModeAllow` applies to a `serverFailure` only; the
   * client may have caused the others. The response of an `indeterminate` check is sent as it is.
   */
  readonly outcome?: 'indeterminate' | 'serverFailure' | 'defect';
  /** Stored under `envoy.filters.http.ext_authz`, for access logs. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** For the log, never for the client. */
  readonly reason: string;
  /** Error code for a user's own error handler. Default: that of the package. */
  readonly code?: string;
}

/** The result of one step of external auth. */
export type AuthDecision = AuthAllowed | AuthDenied;

/** A compiled auth method. It keeps no state of a request. */
export interface AuthMethod {
  authorize(request: AuthRequest): AuthDecision | Promise<AuthDecision>;
  /** Number of body bytes that it needs for this request (`path` and `method` are set), e.g. for a provider's logout. Default 0. */
  bodyBytes?(request: AuthRequest): number;
  /** True if it calls no server, or limits its calls itself: the limit of external calls does not apply. */
  readonly local?: boolean;
  close?(): void | Promise<void>;
}

/**
 * Creates a method from its block in an AuthConfig. `type` is the path of that block, e.g. `oauth2.oidcAuthorizationCode`.
 * `create` is synchronous, makes no call and throws a `GatewayError` for an invalid block; `id` identifies the
 * AuthConfig and step, so that state is found again after a reload.
 */
export interface AuthMethodKind<Spec = unknown> {
  readonly type: string;
  /**
   * Request headers, in lower case, that only its steps may set: client headers with these names are removed, with any
   * decision, and also on the routes of the virtual host without external auth.
   */
  grantedHeaders?(spec: Spec): readonly string[];
  /** Matches cookies that only its steps read; they are not forwarded to any upstream of the virtual host. */
  hiddenCookies?(spec: Spec): CookieTest;
  create(spec: Spec, scope: { readonly id: string; readonly context: Context }): AuthMethod;
}

import type { ClientConnection } from './client-connection.ts';
import type { Context } from './concern.ts';
import type { HeaderChange } from './facts.ts';
import type { Identity } from './identity.ts';
import type { CookieTest } from '../http/cookie-names.ts';
import type { PageContent } from '../page/pages.ts';

/** What an auth method sees of a request. It never sees the request itself, so that any server can ask it. */
export interface AuthRequest {
  readonly requestId: string;
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
  /** The body, where the settings ask for it (`requestBody`). */
  readonly body?: Buffer;
  /** True: servers that are told the body get its bytes in place of text (`requestBody.packAsBytes`). */
  readonly packAsBytes?: true;
  /** Passed along the chain: what earlier methods found out (reference: security 1.1). */
  readonly state: Readonly<Record<string, unknown>>;
  /** Dynamic metadata by namespace. */
  readonly metadata: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
  /** Aborts when the time for the answer is over, or the client has gone. */
  readonly signal?: AbortSignal;
}

/** A change to the query of the path. Names are compared as they are, without escapes. */
export type QueryChange =
  | { readonly op: 'set'; readonly name: string; readonly value: string }
  | { readonly op: 'remove'; readonly name: string };

/** Let in. What is granted goes to the upstream request, to the client's response, and along the chain. */
export interface AuthAllowed {
  readonly allowed: true;
  readonly requestChanges?: readonly HeaderChange[];
  readonly responseChanges?: readonly HeaderChange[];
  /** Made in order. Everything behind sees the path that results. */
  readonly queryChanges?: readonly QueryChange[];
  /** Who it is, for `userIdHeader`. */
  readonly userId?: string;
  /** Logout path of the signed-in user, for the page of a 403. */
  readonly logoutPath?: string;
  /** Claims of the token that was verified, for `identityOf`. */
  readonly claims?: Readonly<Record<string, unknown>>;
  /** Derived from `userId` and `claims` by the caller of the method; of several steps the last one that has either. */
  readonly identity?: Identity;
  /** Added to the state; what it names anew wins. */
  readonly state?: Readonly<Record<string, unknown>>;
  /** All the state from here on, in place of what was there; `state` is added to it. */
  readonly newState?: Readonly<Record<string, unknown>>;
  /** Put under `envoy.filters.http.ext_authz` → name of the config. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** Refused: the answer of the client. `redirect` marks one that sends it to log in. */
export interface AuthDenied {
  readonly allowed: false;
  readonly status: number;
  /** Flat `[name, value, …]`. */
  readonly headers?: readonly string[];
  readonly body?: string;
  /** A page for browsers instead of `body`, with its headers. */
  readonly page?: PageContent;
  /** Allowed target of a form on the page, in addition to this origin. */
  readonly formAction?: string;
  readonly redirect?: boolean;
  /** True where nobody was judged, because something failed: behind a `!` it lets nobody in. */
  readonly unsure?: true;
  /** For the log, never for the client. */
  readonly reason: string;
  /** Error code for a user's own error handler. Default: that of the package. */
  readonly code?: string;
}

export type AuthDecision = AuthAllowed | AuthDenied;

/** One way to authenticate, made ready. It keeps nothing of a request. */
export interface AuthMethod {
  authorize(request: AuthRequest): AuthDecision | Promise<AuthDecision>;
  /** Bytes of the body it has to see of this request (`path` and `method` are set), e.g. a provider's logout. Default 0. */
  bodyBytes?(request: AuthRequest): number;
  /** True for one that asks nobody else, or limits its calls itself: the limit of external calls does not hold for it. */
  readonly local?: boolean;
  close?(): void | Promise<void>;
}

/**
 * Makes a method from its block in an AuthConfig. `type` is the path of that block, e.g. `oauth2.oidcAuthorizationCode`.
 * `create` is synchronous, makes no call and throws a `GatewayError` for a block that cannot be used; `id` names the
 * AuthConfig and step, so that what outlives a reload is found again.
 */
export interface AuthMethodKind<Spec = unknown> {
  readonly type: string;
  /**
   * Request headers, in lower case, that only its steps may fill: what a client sends under their names goes, whoever
   * passes, and also on the routes of the virtual host where nobody is asked.
   */
  grantedHeaders?(spec: Spec): readonly string[];
  /** Matches cookies that only its steps read: they are not forwarded to any upstream of the virtual host. */
  hiddenCookies?(spec: Spec): CookieTest;
  create(spec: Spec, scope: { readonly id: string; readonly context: Context }): AuthMethod;
}

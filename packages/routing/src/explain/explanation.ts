import type { Endpoint, Facts, HostState, ResourceRef, Route, SnapshotSettings, VirtualHost } from '@edge-gateway/core';

/** A request to explain. */
export interface RequestToExplain {
  readonly method: string;
  /** Absolute, e.g. `http://a.example:8080/pets?x=1`; or `*`, the target of `OPTIONS *`. */
  readonly url: string;
  /** `host` overrides the host of the URL, which remains the server name (SNI) of a TLS connection. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Address of the client's connection. Default: 127.0.0.1. */
  readonly clientAddress?: string;
  /** Name of the listener. Default: the one with the URL's port, else the first with its scheme. */
  readonly listener?: string;
  /** Returns the current hosts of an upstream. Default: its declared endpoints, all of them healthy. */
  readonly hostStates?: (upstream: string) => readonly HostState[] | undefined;
  /** Replaces the concerns except transformations. Default: every request is admitted. */
  readonly admit?: Admission;
}

/**
 * Evaluates the concerns of a route, and records their changes on its facts, which the outcome then
 * shows. Returns the response to a rejected request; `undefined` admits it.
 */
export type Admission = (reached: ReachedRoute) => ExplainedReply | undefined;

/** The route of a request, and the virtual host that it is in. */
export interface RoutePlace {
  readonly virtualHost: VirtualHost;
  readonly route: Route;
  /** The settings with those of the listener. */
  readonly settings: SnapshotSettings;
}

/** A request whose route is found. */
export interface ReachedRoute extends RoutePlace {
  readonly facts: Facts;
  /**
   * Applies the transformations of the route at a stage, unless they were applied; returns the response if
   * they fail. Remaining stages are applied after the admission.
   */
  transform(stage: 'early' | 'regular'): ExplainedReply | undefined;
  /** Chooses virtual host and route again, with the recorded changes; returns `undefined` if none matches. */
  reroute(): RoutePlace | undefined;
}

/** A response of the gateway itself, and why. */
export interface ExplainedReply {
  readonly status: number;
  readonly body: string;
  readonly reason: string;
}

/** Explains how a request is served. Plain data. */
export interface Explanation {
  readonly request: { readonly method: string; readonly host: string; readonly path: string };
  readonly listeners: readonly ListenerVerdict[];
  /** Set if the listener accepts the TLS connection of the request only with a client certificate. */
  readonly needsClientCertificate?: true;
  /** The virtual host that matches the request, and the matching domain. */
  readonly virtualHost?: { readonly name: string; readonly virtualService: ResourceRef; readonly domain: string };
  /** Domains of the listener if none of them matches. */
  readonly otherDomains: readonly string[];
  /**
   * Every tested route, in order; the last one matches the request, if any does. If the route was chosen
   * again, those of the last time.
   */
  readonly routes: readonly RouteVerdict[];
  /** Options in the order in which they apply. */
  readonly options: readonly AppliedOption[];
  /** What options do to this request, in order, up to one that ends it. */
  readonly effects: readonly OptionEffect[];
  readonly outcome: Outcome;
}

/** Whether a listener receives the request, and why or why not. */
export interface ListenerVerdict {
  readonly name: string;
  readonly address: string;
  readonly port: number;
  readonly chosen: boolean;
  readonly reason: string;
}

/** Whether a route matches the request. */
export interface RouteVerdict {
  readonly name: string;
  readonly logName: string;
  readonly source: Route['source'];
  readonly matched: boolean;
  readonly matchers: readonly MatcherVerdict[];
}

/** The failed conditions of one matcher; empty if it matches. */
export interface MatcherVerdict {
  /** The path condition in words, e.g. `prefix /a`. */
  readonly path: string;
  readonly mismatches: readonly Mismatch[];
}

/** One failed condition. */
export interface Mismatch {
  /** `path`, `method`, `header x-a` or `query parameter page`. */
  readonly on: string;
  readonly wanted: string;
  /** The value in the request; `undefined` if it is missing. */
  readonly found: string | undefined;
}

/** An option that one of the levels sets. */
export interface AppliedOption {
  readonly option: string;
  readonly from: 'listener' | 'virtual host' | 'route' | 'destination';
  /** Which destination, where there are several. */
  readonly destination?: string;
  /** False if a more specific level replaces it. */
  readonly applies: boolean;
  readonly value: unknown;
}

/** What an option does to a request. What chance or another server decides is only described. */
export interface OptionEffect {
  readonly option: string;
  readonly effect: string;
}

/** The response to the client, or the destinations of the request. */
export type Outcome =
  | { readonly type: 'forward'; readonly destinations: readonly ExplainedDestination[] }
  | { readonly type: 'redirect'; readonly status: number; readonly location: string }
  | ({ readonly type: 'reply' } & ExplainedReply);

/** Whether a host receives requests like the explained one, and why not. */
export interface ExplainedHost {
  /** `address:port`. */
  readonly address: string;
  readonly priority: number;
  readonly used: boolean;
  readonly reason?: string;
}

/** One destination with what would be sent to it. */
export interface ExplainedDestination {
  /** Cluster name. */
  readonly upstream: string;
  /** The labels by which the destination selects hosts; missing if the upstream has no subsets. */
  readonly subset?: Readonly<Record<string, string>>;
  /** Share of the requests in percent. */
  readonly share: number;
  /** Set if this share responds by itself. */
  readonly reply?: ExplainedReply;
  readonly endpoints: readonly Endpoint[];
  /** Its hosts, and why some are not used. */
  readonly hosts: readonly ExplainedHost[];
  /** Set if the request determines the host: by its hash, or by its session. */
  readonly host?: { readonly address: string; readonly reason: string };
  /** The host that the request names, which the gateway looks up when it sends the request. */
  readonly namedHost?: {
    readonly name: string;
    readonly port: number;
    /** What names it, e.g. `header x-target`. */
    readonly from: string;
    /** True if DNS decides whether the request is sent. */
    readonly needsDns: boolean;
  };
  /** Where the body comes from, if the destination calls a function. */
  readonly body?: string;
  /** URL at that host, else at the first one that is used. */
  readonly url: string;
  readonly method: string;
  /** As the upstream gets them, in order, without framing. */
  readonly headers: readonly (readonly [string, string])[];
  /** 0 is no limit. */
  readonly timeoutMs: number;
}

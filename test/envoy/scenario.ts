import type { Http2Call, Http2Reply } from './http2/http2-call.ts';
import type { Talk } from './tunnel/talk.ts';

/** What the upstream sends for one request: bytes, or a function that acts on the connection or the stream. */
export type Reply = string | ((connection: UpstreamConnection) => void) | Http2Reply;

/** The connection of a scripted upstream. */
export interface UpstreamConnection {
  send(text: string): void;
  /** Sends a FIN. */
  end(): void;
  /** Sends an RST. */
  reset(): void;
}

/** A request and the behaviour of the upstream. */
export interface Case {
  /**
   * Bytes that the client sends. Each further part is sent once a response to the previous one has arrived, an interim one or
   * a complete one. Or requests over HTTP/2.
   */
  readonly request: string | readonly string[] | Http2Call;
  /** Replies of the upstream to its first, second … request; the last one repeats. Default: 200 with the body `ok`. */
  readonly upstream?: readonly Reply[];
  /** Number of requests that the upstreams receive, for those that arrive after the response. */
  readonly received?: number;
  /** Also compares the order of the headers that the client and the upstream send, except those that a gateway sets. */
  readonly ordered?: true;
  /** Also compares what differs for every request, see `observe`. */
  readonly everything?: true;
  /** Also compares with which codes the gateway resets its streams to `$up`; one is waited for. */
  readonly resets?: true;
  /** Also compares the access log. */
  readonly logged?: true;
  /** Whether the client ends its side after the last part. */
  readonly end?: true;
  /** Set if a later part of the reply has no form in HTTP/2, or a gateway never ends it there. */
  readonly onlyHttp1Upstream?: true;
  /** What the client does in the tunnel that the request opens. Default: it is not used. */
  readonly talk?: Talk;
}

/**
 * Requests to one virtual host. In both configurations, `$host` is the domain of the group, `$up` its upstream, `$other` a
 * second one, `$refused` one with a closed port, and `$empty` one without endpoints.
 */
export interface Group {
  /** Part of the name of each scenario. */
  readonly name: string;
  readonly ours?: OurConfiguration;
  readonly envoy?: EnvoyConfiguration;
  readonly cases: Readonly<Record<string, Case['request'] | Case>>;
}

/** Fragments of resources. */
export interface OurConfiguration {
  /** Routes of the VirtualService. Default: all to `$up`. */
  readonly routes?: readonly object[];
  /** Fields of `virtualHost` besides the routes. */
  readonly virtualHost?: object;
  /** Further virtual hosts: fields of `virtualHost`. */
  readonly virtualHosts?: readonly object[];
  /** `httpGateway.options` of the Gateway. */
  readonly listener?: object;
  /** `routeOptions` of the Gateway. */
  readonly routeOptions?: object;
  /** Fields of `$up`. */
  readonly upstream?: object;
}

/** Fragments of a configuration of Envoy with the same meaning. */
export interface EnvoyConfiguration {
  readonly routes?: readonly object[];
  readonly virtualHost?: object;
  readonly virtualHosts?: readonly object[];
  /** Fields of the HTTP connection manager. */
  readonly manager?: object;
  /** Fields of its route configuration. */
  readonly routeConfiguration?: object;
  /** HTTP filters before the usual ones. */
  readonly filters?: readonly object[];
  /** Fields of the cluster `$up`. */
  readonly cluster?: object;
}

/** A route of ours that forwards to `$up`. */
export function ours(matcher: object = { prefix: '/' }, options: object = {}, to = '$up'): object {
  return { matchers: [matcher], routeAction: { single: { upstream: { name: to } } }, options };
}

/** A route of Envoy that forwards to `$up`. */
export function envoys(match: object = { prefix: '/' }, route: object = {}, more: object = {}): object {
  return { match, route: { cluster: '$up', ...route }, ...more };
}

/** A route of ours that responds with a text. */
export function ourText(text: string, matcher: object = { prefix: '/' }, options: object = {}): object {
  return { matchers: [matcher], directResponseAction: { status: 200, body: text }, options };
}

/** A route of Envoy that responds with a text. */
export function envoyText(text: string, match: object = { prefix: '/' }, more: object = {}): object {
  return { match, direct_response: { status: 200, body: { inline_string: text } }, ...more };
}

/** The bytes of a request with `Host: $host`. */
export function ask(line: string, headers: readonly string[] = [], body = ''): string {
  return askRaw([`${line} HTTP/1.1`, 'Host: $host', ...headers], body);
}

/** The bytes of a message with exactly these lines. */
export function askRaw(lines: readonly string[], body = ''): string {
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

/** The bytes of a request with a body and its length. */
export function post(path: string, body: string, headers: readonly string[] = [], method = 'POST'): string {
  return ask(`${method} ${path}`, [...headers, `Content-Length: ${Buffer.byteLength(body)}`], body);
}

/** The bytes of a response with the length of its body. */
export function reply(status: string, headers: readonly string[] = [], body = ''): string {
  return askRaw([`HTTP/1.1 ${status}`, ...headers, `content-length: ${Buffer.byteLength(body)}`], body);
}

/** A limit that passes in a scenario. A loaded machine delivers what is sent at its start before it ends. */
export const LIMIT = '1s';

/** Milliseconds until a scripted upstream acts again. A loaded machine forwards what it has sent before they pass. */
export const LATER_MS = 500;

/** The type URL of a message of Envoy. */
export function envoyType(name: string): { '@type': string } {
  return { '@type': `type.googleapis.com/envoy.extensions.${name}` };
}

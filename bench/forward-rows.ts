import { ROUTES } from './forward-configs.ts';
import type { PeerName, Port } from './forward-peers.ts';

/** One line of the table of the forwarding benchmark. */
export interface Row {
  readonly label: string;
  readonly port: Port;
  readonly path: string;
  /** Maximum wanted ratio to Envoy. */
  readonly target?: number;
  /** The greatest ratio to another row: of the gateway, or of a peer. */
  readonly against?: { readonly row: string; readonly target: number; readonly peer?: PeerName };
  readonly host?: string;
  readonly method?: 'POST';
  /** Length of the body of a `POST`. Default: 1 KB. */
  readonly bytes?: number;
  /** Default 200. */
  readonly status?: number;
  /** Default `wrk`: requests on connections that are kept alive. `tokens` sends each token once. */
  readonly tool?: 'wrk' | 'handshakes' | 'resumptions' | 'h2load' | 'grpc' | 'tokens';
  /** Default 32, and 8 for large bodies. */
  readonly connections?: number;
  /** Shortest duration of a round: connections have to be opened first. */
  readonly seconds?: number;
  /** True: a new connection for each request. */
  readonly closes?: boolean;
  /** Default: all peers that support it. */
  readonly peers?: readonly PeerName[];
}

const MEGABYTE = 1024 * 1024;
const GET = 'GET 1 KB';
const LOGGED = `${GET}, access log`;
const UNPROTECTED = `${GET}, token not verified`;
const halfOf = (row: string) => ({ against: { row, target: 0.5 } });

export const ROWS: readonly Row[] = [
  { label: GET, port: 'plain', path: '/1k', target: 0.6 },
  { label: 'POST 1 KB', port: 'plain', path: '/1k', method: 'POST', target: 0.65 },
  { label: 'GET 1 MB', port: 'plain', path: '/1m', target: 1.1 },
  { label: 'POST 1 MB', port: 'plain', path: '/upload', method: 'POST', bytes: MEGABYTE },
  { label: LOGGED, port: 'logged', path: '/1k', target: 0.65 },
  { label: 'ten header changes, prefix rewrite', port: 'plain', path: '/changed/1k', target: 0.7 },
  { label: `last of ${ROUTES} routes`, port: 'plain', host: 'many', path: `/route-${ROUTES - 1}/1k`, target: 0.1 },
  { label: `${GET}, 1,000 connections`, port: 'plain', path: '/1k', connections: 1000, seconds: 4 },
  { label: `${GET}, new connection each`, port: 'plain', path: '/1k', closes: true },
  { label: '403', port: 'plain', path: '/refused/1k', status: 403, ...halfOf(GET) },
  { label: '403, access log', port: 'logged', path: '/refused/1k', status: 403, ...halfOf(LOGGED) },
  { label: '404', port: 'plain', host: 'absent', path: '/1k', status: 404, ...halfOf(GET) },
  { label: '404, access log', port: 'logged', host: 'absent', path: '/1k', status: 404, ...halfOf(LOGGED) },
  { label: '401', port: 'guarded', path: '/guarded/1k', status: 401, ...halfOf(GET) },
  { label: '401, access log', port: 'logged', path: '/guarded/1k', status: 401, peers: ['gateway'], ...halfOf(LOGGED) },
  { label: UNPROTECTED, port: 'plain', path: '/plain/1k', tool: 'tokens' },
  {
    label: `${GET}, first-seen RS256 tokens`,
    port: 'guarded',
    path: '/guarded/1k',
    tool: 'tokens',
    peers: ['gateway', 'envoy'],
    against: { row: UNPROTECTED, peer: 'envoy', target: 2 },
  },
  { label: 'HTTPS kept alive, EC', port: 'secure', path: '/1k', target: 0.9 },
  { label: 'TLS handshakes, EC', port: 'secure', path: '/1k', tool: 'handshakes', target: 1.5 },
  { label: 'TLS resumptions, EC', port: 'secure', path: '/1k', tool: 'resumptions', target: 1 },
  { label: 'HTTP/2 downstream, TLS', port: 'secure', path: '/1k', tool: 'h2load', target: 1.5 },
  { label: 'HTTP/2 downstream', port: 'http2', path: '/1k', tool: 'h2load', target: 1.5 },
  { label: 'HTTP/2 downstream, POST 1 KB', port: 'http2', path: '/1k', method: 'POST', tool: 'h2load', target: 1.5 },
  { label: 'HTTP/2 downstream, GET 1 MB', port: 'http2', path: '/1m', tool: 'h2load' },
  {
    label: 'HTTP/2 downstream, POST 1 MB',
    port: 'http2',
    path: '/upload',
    method: 'POST',
    bytes: MEGABYTE,
    tool: 'h2load',
  },
  { label: 'HTTP/2 downstream, TLS, GET 1 MB', port: 'secure', path: '/1m', tool: 'h2load' },
  {
    label: 'HTTP/2 downstream, TLS, POST 1 MB',
    port: 'secure',
    path: '/upload',
    method: 'POST',
    bytes: MEGABYTE,
    tool: 'h2load',
  },
  { label: 'HTTP/2 upstream', port: 'plain', path: '/http2/1k', peers: ['gateway', 'envoy'], target: 1.5 },
  { label: 'HTTP/2 upstream, GET 1 MB', port: 'plain', path: '/http2/1m', peers: ['gateway', 'envoy'] },
  {
    label: 'HTTP/2 upstream, POST 1 MB',
    port: 'plain',
    path: '/http2/upload',
    method: 'POST',
    bytes: MEGABYTE,
    peers: ['gateway', 'envoy'],
  },
  { label: 'gRPC unary', port: 'http2', path: '/grpc/unary', tool: 'grpc', target: 1.5 },
];

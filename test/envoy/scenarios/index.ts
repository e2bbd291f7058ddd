import type { Group } from '../scenario.ts';
import { accessLogs } from './access-logs.ts';
import { bodies } from './bodies.ts';
import { bufferLimits } from './buffer.ts';
import { connect } from './connect.ts';
import { cors } from './cors.ts';
import { csrf } from './csrf.ts';
import { direct } from './direct.ts';
import { failures } from './failures.ts';
import { faults } from './faults.ts';
import { forwarded } from './forwarded.ts';
import { framing } from './framing.ts';
import { grpc } from './grpc.ts';
import { grpcCalls } from './grpc-calls.ts';
import { hashing } from './hashing.ts';
import { headerCase } from './header-case.ts';
import { headers } from './headers.ts';
import { hostRewrite } from './host-rewrite.ts';
import { hosts } from './hosts.ts';
import { http2Requests } from './http2-requests.ts';
import { http2Upstreams } from './http2-upstreams.ts';
import { interim } from './interim.ts';
import { internalClients } from './internal-clients.ts';
import { localLimits } from './local-limits.ts';
import { matching } from './matching.ts';
import { paths } from './paths.ts';
import { regexRewrite } from './regex-rewrite.ts';
import { retries } from './retries.ts';
import { shadowing } from './shadowing.ts';
import { streamLimits } from './stream-limits.ts';
import { trailers } from './trailers.ts';
import { tunnels } from './tunnels.ts';
import { upgradeRetries } from './upgrade-retries.ts';
import { upgrades } from './upgrades.ts';

/** The groups of every feature. */
export const FEATURES: Readonly<Record<string, readonly Group[]>> = {
  accessLogs,
  bodies,
  bufferLimits,
  connect,
  cors,
  csrf,
  direct,
  failures,
  faults,
  forwarded,
  framing,
  grpc,
  hashing,
  headerCase,
  headers,
  hostRewrite,
  hosts,
  interim,
  internalClients,
  localLimits,
  matching,
  paths,
  regexRewrite,
  retries,
  shadowing,
  streamLimits,
  trailers,
  tunnels,
  upgrades,
  upgradeRetries,
  http2Requests,
  http2Upstreams,
  grpcCalls,
};

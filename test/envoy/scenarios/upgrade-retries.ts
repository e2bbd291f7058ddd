import { envoys, ours, reply, type Case, type Group, type Reply } from '../scenario.ts';
import { CONNECT, HANDSHAKE, OPENED, SWITCHED } from '../tunnel/handshakes.ts';

const FAST = { retryBackOff: { baseInterval: '0.01s', maxInterval: '0.02s' } };
const ENVOY_FAST = { retry_back_off: { base_interval: '0.01s', max_interval: '0.02s' } };
const failed = reply('503 Service Unavailable', [], 'failed');
const reset: Reply = (to) => to.reset();
const counted = {
  ours: { options: { includeRequestAttemptCount: true, includeAttemptCountInResponse: true } },
  envoy: { include_request_attempt_count: true, include_attempt_count_in_response: true },
};

/** Upgrades and tunnels with two retries on these conditions. */
function policy(retryOn: string, to: '$up' | '$refused', cases: Record<string, Case>): Group {
  const retries = { ...FAST, retryOn, numRetries: 2 };
  const retry_policy = { ...ENVOY_FAST, retry_on: retryOn, num_retries: 2 };
  return {
    name: `upgrade retries on ${retryOn} of ${to.slice(1)}`,
    ours: {
      virtualHost: { domains: ['$host', '$host:443'], ...counted.ours },
      routes: [
        ours({ connectMatcher: {} }, { retries, upgrades: [{ connect: {} }] }, to),
        ours({ prefix: '/' }, { retries }, to),
      ],
    },
    envoy: {
      virtualHost: { domains: ['$host', '$host:443'], ...counted.envoy },
      routes: [
        envoys({ connect_matcher: {} }, { cluster: to, retry_policy, upgrade_configs: [{ upgrade_type: 'CONNECT' }] }),
        envoys({ prefix: '/' }, { cluster: to, retry_policy }),
      ],
    },
    cases,
  };
}

const websocket = (...upstream: Reply[]): Case => ({ request: HANDSHAKE, upstream });
const connect = (...upstream: Reply[]): Case => ({ request: CONNECT, upstream });

export const upgradeRetries: readonly Group[] = [
  policy('connect-failure', '$refused', { 'of a WebSocket': websocket(), 'of CONNECT': connect() }),
  policy('connect-failure', '$up', {
    'leave a reset of a WebSocket': websocket(reset, SWITCHED),
    'leave 503 of a WebSocket': websocket(failed, SWITCHED),
  }),
  policy('5xx', '$up', {
    'of a WebSocket that is reset': websocket(reset, SWITCHED),
    'of a WebSocket with 503': websocket(failed, SWITCHED),
    'of a WebSocket with 503 each time': websocket(failed),
    'of CONNECT that is reset': connect(reset, OPENED),
    'of CONNECT with 503': connect(failed, OPENED),
  }),
];

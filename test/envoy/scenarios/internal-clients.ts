import { ask, reply, type Group, type Reply } from '../scenario.ts';

const failed = (status: string, headers: readonly string[] = []): Reply => reply(status, headers, 'failed');
const ok = reply('200 OK', [], 'ok');

export const internalClients: readonly Group[] = [
  {
    name: 'retries asked for by an internal client',
    ours: {
      listener: {
        httpConnectionManagerSettings: {
          internalAddressConfig: { cidrRanges: [{ addressPrefix: '127.0.0.0', prefixLen: 8 }] },
        },
      },
    },
    envoy: { manager: { internal_address_config: { cidr_ranges: [{ address_prefix: '127.0.0.0', prefix_len: 8 }] } } },
    cases: {
      'are done': {
        request: ask('GET /', ['x-envoy-retry-on: 5xx', 'x-envoy-max-retries: 2']),
        upstream: [failed('503 Service Unavailable'), ok],
      },
      'with a timeout': { request: ask('GET /', ['x-envoy-upstream-rq-timeout-ms: 1000']), upstream: [() => {}] },
    },
  },
];

import { ask, envoys, ours, reply, type Case, type Group } from '../scenario.ts';

const TARGET = '$host:443';
const request = (...headers: string[]): string =>
  [`CONNECT ${TARGET} HTTP/1.1`, `Host: ${TARGET}`, ...headers, '', ''].join('\r\n');
const domains = { domains: ['$host', TARGET] };
const match = { connect_matcher: {} };

/** A request, and the response of a proxy to it; the client closes its side so that the tunnel ends. */
const proxied = (response: string): Case => ({ request: request(), upstream: [response] });

export const connect: readonly Group[] = [
  {
    name: 'CONNECT',
    ours: {
      virtualHost: domains,
      routes: [ours({ connectMatcher: {} }, { upgrades: [{ connect: {} }] }), ours()],
    },
    envoy: {
      virtualHost: domains,
      routes: [envoys(match, { upgrade_configs: [{ upgrade_type: 'CONNECT' }] }), envoys()],
    },
    cases: {
      'that a proxy refuses': proxied(
        reply('407 Proxy Authentication Required', ['proxy-authenticate: Basic'], 'who?'),
      ),
      'that a proxy refuses with 500': proxied(reply('500 Internal Server Error', [], 'no')),
      'that gets no HTTP': proxied('SSH-2.0-OpenSSH_9.2\r\n\r\n'),
      'with a length': request('Content-Length: 3') + 'abc',
      'without a port': 'CONNECT $host HTTP/1.1\r\nHost: $host\r\n\r\n',
      'with a path': `CONNECT /a HTTP/1.1\r\nHost: ${TARGET}\r\n\r\n`,
      'with an absolute target': `CONNECT http://${TARGET}/ HTTP/1.1\r\nHost: ${TARGET}\r\n\r\n`,
      'over HTTP/1.0': `CONNECT ${TARGET} HTTP/1.0\r\nHost: ${TARGET}\r\n\r\n`,
      'beside a request': ask('GET /'),
    },
  },
  {
    name: 'CONNECT that no upgrade allows',
    ours: { virtualHost: domains, routes: [ours({ connectMatcher: {} }), ours()] },
    envoy: { virtualHost: domains, routes: [envoys(match), envoys()] },
    cases: { 'is rejected': request() },
  },
  {
    name: 'CONNECT that is terminated',
    ours: {
      virtualHost: domains,
      routes: [ours({ connectMatcher: {} }, { upgrades: [{ connectTerminate: {} }] }, '$refused')],
    },
    envoy: {
      virtualHost: domains,
      routes: [
        envoys(match, { cluster: '$refused', upgrade_configs: [{ upgrade_type: 'CONNECT', connect_config: {} }] }),
      ],
    },
    cases: { 'to a closed port': request() },
  },
];

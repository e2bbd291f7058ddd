import { envoys, ours, type Case, type Group } from '../scenario.ts';
import { CONNECT, HANDSHAKE, OPENED, SWITCHED } from '../tunnel/handshakes.ts';
import type { Talk } from '../tunnel/talk.ts';

/** The same talks for both kinds of tunnels. */
function talks(request: string, opened: string): Record<string, Case> {
  const talk = (how: Talk, more: Partial<Case> = {}): Case => ({ request, upstream: [opened], talk: how, ...more });
  return {
    'that the client ends': talk({ says: ['one?', 'two?'], leaves: 'ends' }),
    'that the client resets': talk({ says: ['one?'], leaves: 'resets' }),
    'that the client ends at once': talk({ says: [], leaves: 'ends' }),
    'that the upstream ends': talk({ says: ['one?', 'bye?'] }),
    'that the upstream resets': talk({ says: ['one?', 'reset?'] }),
    'with data behind the request': talk({ says: ['two?'], leaves: 'ends' }, { request: `${request}one` }),
    'with data behind the response': talk({ says: ['one?'], leaves: 'ends' }, { upstream: [`${opened}hello, `] }),
    'with much data': talk({ says: [`${'x'.repeat(100_000)}?`, 'bye?'] }),
  };
}

export const tunnels: readonly Group[] = [
  {
    name: 'tunnel of a WebSocket',
    // For clients that speak HTTP/2, Envoy ends a tunnel only then if the client alone has ended its side.
    ours: { routes: [ours({ prefix: '/' }, { timeout: '3s' })] },
    envoy: { routes: [envoys({ prefix: '/' }, { timeout: '3s' })] },
    cases: talks(HANDSHAKE, SWITCHED),
  },
  {
    name: 'tunnel of CONNECT',
    ours: {
      virtualHost: { domains: ['$host', '$host:443'] },
      routes: [ours({ connectMatcher: {} }, { upgrades: [{ connect: {} }] })],
    },
    envoy: {
      virtualHost: { domains: ['$host', '$host:443'] },
      routes: [envoys({ connect_matcher: {} }, { upgrade_configs: [{ upgrade_type: 'CONNECT' }] })],
    },
    cases: talks(CONNECT, OPENED),
  },
];

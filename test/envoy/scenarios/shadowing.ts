import { ask, envoys, ours, post, reply, type Group } from '../scenario.ts';

export const shadowing: readonly Group[] = [
  {
    name: 'shadowing',
    ours: {
      routes: [
        ours(
          { prefix: '/none' },
          { shadowing: { upstream: { name: '$other', namespace: 'gw-system' }, percentage: 0 } },
        ),
        ours({ prefix: '/' }, { shadowing: { upstream: { name: '$other', namespace: 'gw-system' }, percentage: 100 } }),
      ],
    },
    envoy: {
      routes: [
        envoys(
          { prefix: '/none' },
          { request_mirror_policies: [{ cluster: '$other', runtime_fraction: { default_value: { numerator: 0 } } }] },
        ),
        envoys(
          { prefix: '/' },
          { request_mirror_policies: [{ cluster: '$other', runtime_fraction: { default_value: { numerator: 100 } } }] },
        ),
      ],
    },
    cases: {
      'sends a copy': { request: ask('GET /a?b', ['X-A: 1']), received: 2 },
      'sends a copy of the body': { request: post('/', 'hello'), received: 2 },
      'ignores the response to the copy': {
        request: ask('GET /a'),
        upstream: [reply('500 Internal Server Error', [], 'x')],
        received: 2,
      },
      'of no request': ask('GET /none'),
    },
  },
];

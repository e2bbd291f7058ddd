import { ask, envoys, ours, type Group } from '../scenario.ts';

const cookie = (name: string, option: object, envoy: object, cases: Group['cases']): Group => ({
  name: `hash cookie ${name}`,
  ours: {
    routes: [ours({ prefix: '/' }, { lbHash: { hashPolicies: [{ cookie: option }] } })],
    upstream: { loadBalancerConfig: { ringHash: {} } },
  },
  envoy: {
    routes: [envoys({ prefix: '/' }, { hash_policy: [{ cookie: envoy }] })],
    cluster: { lb_policy: 'RING_HASH' },
  },
  cases,
});

export const hashing: readonly Group[] = [
  cookie(
    'with ttl',
    { name: 'sticky', ttl: '60s', path: '/' },
    { name: 'sticky', ttl: '60s', path: '/' },
    {
      'is generated': ask('GET /'),
      'of the client is kept': ask('GET /', ['Cookie: sticky="abc"']),
      'of another name is generated': ask('GET /', ['Cookie: other=1']),
    },
  ),
  cookie(
    'for a session',
    { name: 'sticky', ttl: '0s' },
    { name: 'sticky', ttl: '0s' },
    { 'is generated': ask('GET /') },
  ),
  cookie('without ttl', { name: 'sticky' }, { name: 'sticky' }, { 'is not generated': ask('GET /') }),
];

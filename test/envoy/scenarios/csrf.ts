import { ask, envoys, envoyType, ours, post, type Group } from '../scenario.ts';

const ALL = { defaultValue: { numerator: 100, denominator: 'HUNDRED' } };
const csrfOf = (policy: object): object => ({
  typed_per_filter_config: {
    'envoy.filters.http.csrf': { ...envoyType('filters.http.csrf.v3.CsrfPolicy'), ...policy },
  },
});

export const csrf: readonly Group[] = [
  {
    name: 'csrf',
    ours: {
      routes: [
        ours(
          { prefix: '/' },
          {
            csrf: {
              filterEnabled: ALL,
              additionalOrigins: [{ exact: 'friend.example' }, { suffix: '.trusted.example' }],
            },
          },
        ),
      ],
    },
    envoy: {
      routes: [
        envoys(
          { prefix: '/' },
          {},
          csrfOf({
            filter_enabled: { default_value: { numerator: 100, denominator: 'HUNDRED' } },
            additional_origins: [{ exact: 'friend.example' }, { suffix: '.trusted.example' }],
          }),
        ),
      ],
    },
    cases: {
      'allows the own origin': post('/', 'a', ['Origin: http://$host']),
      'allows the own origin by Referer': post('/', 'a', ['Referer: http://$host/page?x']),
      'allows an additional origin': post('/', 'a', ['Origin: https://friend.example']),
      'allows an additional origin by suffix': post('/', 'a', ['Origin: https://x.trusted.example']),
      'rejects another origin': post('/', 'a', ['Origin: https://evil.example']),
      'rejects another Referer': post('/', 'a', ['Referer: https://evil.example/a']),
      'rejects a request without origin': post('/', 'a'),
      'rejects the origin null': post('/', 'a', ['Origin: null']),
      'rejects the own host with another port': post('/', 'a', ['Origin: http://$host:8080']),
      'prefers Origin': post('/', 'a', ['Origin: https://evil.example', 'Referer: http://$host/']),
      'allows GET of another origin': ask('GET /', ['Origin: https://evil.example']),
      'rejects DELETE of another origin': ask('DELETE /', ['Origin: https://evil.example']),
      'rejects PATCH of another origin': post('/', 'a', ['Origin: https://evil.example'], 'PATCH'),
      'allows OPTIONS of another origin': ask('OPTIONS /', ['Origin: https://evil.example']),
    },
  },
  {
    name: 'csrf shadow',
    ours: {
      routes: [
        ours({ prefix: '/' }, { csrf: { filterEnabled: { defaultValue: { numerator: 0 } }, shadowEnabled: ALL } }),
      ],
    },
    envoy: {
      routes: [
        envoys(
          { prefix: '/' },
          {},
          csrfOf({
            filter_enabled: { default_value: { numerator: 0 } },
            shadow_enabled: { default_value: { numerator: 100 } },
          }),
        ),
      ],
    },
    cases: { 'rejects nothing': post('/', 'a', ['Origin: https://evil.example']) },
  },
];

import { ask, envoys, envoyText, envoyType, ours, ourText, post, type Group } from '../scenario.ts';

const faultOf = (policy: object): object => ({
  typed_per_filter_config: {
    'envoy.filters.http.fault': { ...envoyType('filters.http.fault.v3.HTTPFault'), ...policy },
  },
});
const ABORT = { abort: { percentage: 100, httpStatus: 418 } };
const ENVOY_ABORT = faultOf({ abort: { http_status: 418, percentage: { numerator: 100 } } });

export const faults: readonly Group[] = [
  {
    name: 'abort',
    ours: {
      routes: [
        ourText('direct', { prefix: '/direct' }, { faults: ABORT }),
        ours({ prefix: '/none' }, { faults: { abort: { percentage: 0, httpStatus: 418 } } }),
        ours({ prefix: '/' }, { faults: ABORT }),
      ],
    },
    envoy: {
      routes: [
        envoyText('direct', { prefix: '/direct' }, ENVOY_ABORT),
        envoys({ prefix: '/none' }, {}, faultOf({ abort: { http_status: 418, percentage: { numerator: 0 } } })),
        envoys({ prefix: '/' }, {}, ENVOY_ABORT),
      ],
    },
    cases: {
      'of every request': ask('GET /'),
      'of a POST': post('/', 'hello'),
      'of HEAD': ask('HEAD /'),
      'of no request': ask('GET /none'),
      'of a direct response': ask('GET /direct'),
    },
  },
  {
    name: 'delay',
    ours: {
      routes: [
        ours({ prefix: '/both' }, { faults: { ...ABORT, delay: { percentage: 100, fixedDelay: '1s' } } }),
        ours({ prefix: '/' }, { faults: { delay: { percentage: 100, fixedDelay: '1s' } } }),
      ],
    },
    envoy: {
      routes: [
        envoys(
          { prefix: '/both' },
          {},
          faultOf({
            abort: { http_status: 418, percentage: { numerator: 100 } },
            delay: { fixed_delay: '1s', percentage: { numerator: 100 } },
          }),
        ),
        envoys({ prefix: '/' }, {}, faultOf({ delay: { fixed_delay: '1s', percentage: { numerator: 100 } } })),
      ],
    },
    cases: { 'of a forwarded request': ask('GET /'), 'and abort': ask('GET /both') },
  },
];

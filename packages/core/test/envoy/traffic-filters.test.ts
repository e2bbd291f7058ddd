import { expect } from 'chai';
import { mirrorsOf, trafficFilters, trafficOf } from '../../src/envoy/traffic-filters.ts';

const type = (name: string) => `type.googleapis.com/envoy.extensions.filters.http.${name}`;

describe('faults, CORS and CSRF in the dump', () => {
  it('have the settings of a level', () => {
    const level = {
      faults: { abort: { percentage: 0.5, httpStatus: 503 }, delay: { percentage: 100, fixedDelay: '1.5s' } },
      cors: {
        allowOrigin: ['https://a.example'],
        allowOriginRegex: ['https://.*'],
        allowMethods: ['GET', 'PUT'],
        maxAge: '60',
        allowCredentials: true,
      },
      csrf: { additionalOrigins: [{ suffix: '.a.example', ignoreCase: true }] },
    };
    expect(trafficOf(level)).to.deep.equal({
      'envoy.filters.http.fault': {
        '@type': type('fault.v3.HTTPFault'),
        abort: { http_status: 503, percentage: { numerator: 5000, denominator: 'MILLION' } },
        delay: { fixed_delay: '1.500s', percentage: { numerator: 1_000_000, denominator: 'MILLION' } },
      },
      'envoy.filters.http.cors': {
        '@type': type('cors.v3.CorsPolicy'),
        allow_origin_string_match: [{ exact: 'https://a.example' }, { safe_regex: { regex: 'https://.*' } }],
        allow_methods: 'GET,PUT',
        max_age: '60',
        allow_credentials: true,
      },
      'envoy.filters.http.csrf': {
        '@type': type('csrf.v3.CsrfPolicy'),
        filter_enabled: { default_value: { numerator: 0 } },
        additional_origins: [{ suffix: '.a.example', ignore_case: true }],
      },
    });
  });

  it('are filters of a listener if one of its levels uses them', () => {
    const names = (levels: object[], csrf?: object) =>
      Object.values(trafficFilters(new Set(levels.flatMap(Object.keys)), csrf ? { csrf } : {})).flatMap(
        ([name, config]) => (config ? [name] : []),
      );
    expect(names([{}])).to.deep.equal([]);
    expect(names([{ cors: {} }, { faults: {} }])).to.deep.equal([
      'envoy.filters.http.fault',
      'envoy.filters.http.cors',
    ]);
    expect(names([{}], {})).to.deep.equal(['envoy.filters.http.csrf']);
  });

  it('show copies of requests', () => {
    expect(mirrorsOf({})).to.equal(undefined);
    const shadowing = { upstream: { name: 'next', namespace: 'apps' }, percentage: 25 };
    expect(mirrorsOf({ shadowing })).to.deep.equal([
      { cluster: 'next_apps', runtime_fraction: { default_value: { numerator: 250_000, denominator: 'MILLION' } } },
    ]);
  });
});

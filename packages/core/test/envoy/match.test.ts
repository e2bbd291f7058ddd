import { expect } from 'chai';
import { headerMatcher, routeMatch } from '../../src/envoy/match.ts';

const ENVOY = { services: {} };

describe('matchers for Envoys', () => {
  it('have one form of the path', () => {
    for (const [matcher, match] of [
      [{ prefix: '/a' }, { prefix: '/a' }],
      [{ exact: '/a' }, { path: '/a' }],
      [
        { regex: '/a.*', caseSensitive: false },
        { safe_regex: { regex: '/a.*' }, case_sensitive: false },
      ],
      [{ connectMatcher: {} }, { connect_matcher: {} }],
      [{}, { prefix: '/' }],
    ] as const)
      expect(routeMatch(matcher, ENVOY)).to.deep.equal(match);
  });

  it('require one of the methods', () => {
    const methods = (...names: string[]): any => (routeMatch({ methods: names }, ENVOY) as any).headers[0];
    expect(methods('GET')).to.deep.equal({ name: ':method', string_match: { exact: 'GET' } });
    expect(methods('GET', 'PUT')).to.deep.equal({
      name: ':method',
      string_match: { safe_regex: { regex: 'GET|PUT' } },
    });
  });

  it('compare headers and parameters, and may require the contrary', () => {
    expect(headerMatcher({ name: 'X-A' }, ENVOY)).to.deep.equal({ name: 'x-a', present_match: true });
    expect(headerMatcher({ name: 'x-a', value: '1', invertMatch: true }, ENVOY)).to.deep.equal({
      name: 'x-a',
      string_match: { exact: '1' },
      invert_match: true,
    });
    expect(routeMatch({ queryParameters: [{ name: 'q', value: '.*', regex: true }] }, ENVOY)).to.deep.include({
      query_parameters: [{ name: 'q', string_match: { safe_regex: { regex: '.*' } } }],
    });
  });

  it('contain credentials only for Envoys', () => {
    for (const matcher of [
      { headers: [{ name: 'x-api-key', value: 'MARKER' }] },
      { queryParameters: [{ name: 'key', value: 'MARKER' }] },
    ]) {
      expect(JSON.stringify(routeMatch(matcher, ENVOY))).to.contain('MARKER');
      expect(JSON.stringify(routeMatch(matcher, {}))).to.not.contain('MARKER');
    }
  });
});

import { toByteString } from '@edge-gateway/core';
import { expect } from 'chai';
import { compileAssertions } from '../../../src/upstream/health/response-assertions.ts';

type Assertions = Parameters<typeof compileAssertions>[0];

function check(assertions: Assertions, body: string, headers: Record<string, string | string[]> = {}): string {
  const result = compileAssertions(assertions).check({ headers, body });
  return typeof result === 'string' ? result : `${result.type}: ${result.reason}`;
}

const status = (regex: string, more: object = {}) => ({
  responseMatch: { jsonKey: { path: [{ key: 'health' }, { key: 'status' }] }, regex, ...more },
});

describe('assertions on responses to health checks', () => {
  it('compare headers as UTF-8', () => {
    const header = (regex: string): Assertions => ({
      responseMatchers: [{ responseMatch: { header: 'x-state', regex } }],
    });
    const headers = { 'x-state': [toByteString('grün'), toByteString('gut')] };
    expect(check(header('gr.n,gut'), '', headers)).to.equal('healthy');
  });

  const up: Assertions = { responseMatchers: [status('UP')] };

  for (const [title, assertions, body, expected] of [
    ['a matching body', { responseMatchers: [{ responseMatch: { body: {}, regex: 'O.' } }] }, 'OK', 'healthy'],
    ['the body by default', { responseMatchers: [{ responseMatch: { regex: 'OK' } }] }, 'OK', 'healthy'],
    [
      'a part of the body',
      { responseMatchers: [{ responseMatch: { regex: 'OK' } }] },
      'NOT OK',
      'ACTIVE: the response matches no assertion',
    ],
    ['a value in JSON', up, '{"health":{"status":"UP"}}', 'healthy'],
    ['another value in JSON', up, '{"health":{"status":"DOWN"}}', 'ACTIVE: the response matches no assertion'],
    ['no value in JSON', up, '{"health":[]}', 'ACTIVE: the response matches no assertion'],
    [
      'a name of every object',
      { responseMatchers: [{ responseMatch: { jsonKey: { path: [{ key: 'constructor' }] }, regex: '.*' } }] },
      '{}',
      'ACTIVE: the response matches no assertion',
    ],
    ['a number in JSON', { responseMatchers: [status('[0-9]+')] }, '{"health":{"status":12}}', 'healthy'],
    ['null in JSON', { responseMatchers: [status('null')] }, '{"health":{"status":null}}', 'healthy'],
    ['text that is not JSON', up, 'UP', 'ACTIVE: the response is not JSON'],
    [
      'text that need not be JSON',
      { responseMatchers: [status('UP', { ignoreErrorOnParse: true }), { responseMatch: { regex: 'UP' } }] },
      'UP',
      'healthy',
    ],
    [
      'the first match of several',
      { responseMatchers: [{ ...status('SLOW'), matchHealth: 'degraded' }, status('.*')] },
      '{"health":{"status":"SLOW"}}',
      'degraded',
    ],
    [
      'a match that fails',
      { responseMatchers: [{ ...status('DOWN'), matchHealth: 'unhealthy' }], noMatchHealth: 'healthy' },
      '{"health":{"status":"DOWN"}}',
      'ACTIVE: the response matches DOWN',
    ],
    [
      'no match that passes',
      { responseMatchers: [{ ...status('DOWN'), matchHealth: 'unhealthy' }], noMatchHealth: 'healthy' },
      '{"health":{"status":"UP"}}',
      'healthy',
    ],
    ['no matchers', {}, 'OK', 'ACTIVE: the response matches no assertion'],
  ] as readonly (readonly [string, Assertions, string, string])[]) {
    it(`find ${title}: ${expected}`, () => {
      expect(check(assertions, body)).to.equal(expected);
    });
  }

  it('match headers of any case, and several values joined by a comma', () => {
    const header: Assertions = { responseMatchers: [{ responseMatch: { header: 'X-State', regex: 'a,b' } }] };
    expect(check(header, '', { 'x-state': ['a', 'b'] })).to.equal('healthy');
    expect(check(header, 'a,b')).to.match(/no assertion/);
  });

  it('do not read the body if only headers are matched', () => {
    const header = { responseMatch: { header: 'x', regex: 'a' } };
    expect(compileAssertions({ responseMatchers: [header] }).readsBody).to.equal(false);
    expect(compileAssertions({ responseMatchers: [header, status('UP')] }).readsBody).to.equal(true);
  });
});

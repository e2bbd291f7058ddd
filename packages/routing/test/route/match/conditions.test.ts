import { expect } from 'chai';
import { toByteString, type Route } from '@edge-gateway/core';
import { allHold, compileConditions } from '../../../src/route/match/conditions.ts';
import type { RequestView } from '../../../src/format/record.ts';

type Matcher = Route['matchers'][number];

const VIEW: RequestView = {
  method: 'GET',
  authority: 'a.example:8080',
  path: `/p?page=1&page=2&empty&enc=%61&x=a=b&${toByteString('é=Zürich')}`,
  pathname: '/p',
  headers: ['x-city', toByteString('Zürich'), 'x-a', '1', 'x-list', 'one', 'x-list', 'two', 'x-empty', ''],
};

const TABLE: readonly (readonly [name: string, matcher: Matcher, holds: boolean])[] = [
  ['a header by value', { headers: [{ name: 'X-A', value: '1' }] }, true],
  ['a header with another value', { headers: [{ name: 'x-a', value: '2' }] }, false],
  ['a header that is there', { headers: [{ name: 'x-a' }] }, true],
  ['a header that is there, though empty', { headers: [{ name: 'x-empty' }] }, true],
  ['a header that is not there', { headers: [{ name: 'x-b' }] }, false],
  ['a header that has to be absent and is', { headers: [{ name: 'x-b', invertMatch: true }] }, true],
  ['a header that has to be absent and is not', { headers: [{ name: 'x-a', invertMatch: true }] }, false],
  ['a header that must not have this value', { headers: [{ name: 'x-a', value: '2', invertMatch: true }] }, true],
  [
    'a missing header that must not have this value',
    { headers: [{ name: 'x-b', value: '2', invertMatch: true }] },
    false,
  ],
  ['a header by expression', { headers: [{ name: 'x-a', value: '[0-9]', regex: true }] }, true],
  ['an expression that fits only a part', { headers: [{ name: 'x-list', value: 'one', regex: true }] }, false],
  ['several values joined by a comma', { headers: [{ name: 'x-list', value: 'one,two' }] }, true],
  [':authority with its port', { headers: [{ name: ':authority', value: 'a.example:8080' }] }, true],
  ['host as :authority', { headers: [{ name: 'Host', value: 'a.example:8080' }] }, true],
  [':path with its query', { headers: [{ name: ':path', value: '/p\\?page=.*', regex: true }] }, true],
  [':method', { headers: [{ name: ':method', value: 'GET' }] }, true],
  ['all headers, one of which fails', { headers: [{ name: 'x-a' }, { name: 'x-b' }] }, false],
  ['the first value of a query parameter', { queryParameters: [{ name: 'page', value: '1' }] }, true],
  ['not the second value of a query parameter', { queryParameters: [{ name: 'page', value: '2' }] }, false],
  ['a query parameter by expression', { queryParameters: [{ name: 'page', value: '[0-9]+', regex: true }] }, true],
  ['a query parameter without value', { queryParameters: [{ name: 'empty' }] }, true],
  ['a missing query parameter', { queryParameters: [{ name: 'pag' }] }, false],
  ['a query parameter as it is written', { queryParameters: [{ name: 'enc', value: 'a' }] }, false],
  ['a query parameter with an equals sign in it', { queryParameters: [{ name: 'x', value: 'a=b' }] }, true],
  ['a query parameter beyond ASCII', { queryParameters: [{ name: 'é', value: 'Zürich' }] }, true],
  ['another query parameter beyond ASCII', { queryParameters: [{ name: 'é', value: 'Zurich' }] }, false],
  [
    'a query parameter by an expression beyond ASCII',
    { queryParameters: [{ name: 'é', value: 'Z.rich', regex: true }] },
    true,
  ],
  ['a header beyond ASCII', { headers: [{ name: 'x-city', value: 'Zürich' }] }, true],
  [
    'a header that must not have this value beyond ASCII',
    { headers: [{ name: 'x-city', value: 'Zürich', invertMatch: true }] },
    false,
  ],
  ['a header by an expression beyond ASCII', { headers: [{ name: 'x-city', value: 'Z.rich', regex: true }] }, true],
  ['one of the methods', { methods: ['POST', 'GET'] }, true],
  ['none of the methods', { methods: ['POST'] }, false],
];

describe('conditions', () => {
  for (const [name, matcher, holds] of TABLE) {
    it(`${holds ? 'match' : 'do not match'} for ${name}`, () => {
      expect(allHold(compileConditions(matcher), VIEW)).to.equal(holds);
    });
  }

  it('throw for an expression that does not compile', () => {
    expect(() => compileConditions({ headers: [{ name: 'a', value: '(', regex: true }] })).to.throw();
  });
});

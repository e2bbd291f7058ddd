import { expect } from 'chai';
import { changeQuery } from '../../src/chain/query-changes.ts';

const set = (name: string, value: string) => ({ op: 'set', name, value }) as const;
const remove = (name: string) => ({ op: 'remove', name }) as const;

describe('changes to a query', () => {
  for (const [what, path, changes, expected] of [
    ['sets where there is none', '/a', [set('b', '1')], '/a?b=1'],
    ['adds to those that are there', '/a?c=%7e', [set('b', '1')], '/a?c=%7e&b=1'],
    ['takes the place of all of a name', '/a?b=1&c=2&b=3&b', [set('b', 'x')], '/a?b=x&c=2'],
    ['finds names however they are escaped', '/a?%62=1&c+d=2', [set('b', 'x'), remove('c d')], '/a?b=x'],
    ['tells names apart by case', '/a?B=1', [remove('b')], '/a?B=1'],
    ['leaves no empty query', '/a?b=1', [remove('b')], '/a'],
    ['removes what was set before', '/a', [set('b', '1'), remove('b')], '/a'],
    ['lets no value become another parameter', '/a', [set('b', '1&c=2#f')], '/a?b=1%26c=2%23f'],
    ['lets no name become a value', '/a', [set('b=1&c', '2')], '/a?b%3D1%26c=2'],
    ['escapes what no query has', '/a', [set('b', 'ü "x"\r\n100%')], '/a?b=%C3%BC%20%22x%22%0D%0A100%25'],
    ['keeps escapes of the server', '/a', [set('b', 'x%20y+z')], '/a?b=x%20y+z'],
    ['stands halves of characters', '/a', [set('b', '\ud800')], '/a?b=%EF%BF%BD'],
    ['stands broken escapes of the client', '/a?%zz=1&b=%', [set('c', '1')], '/a?%zz=1&b=%&c=1'],
    ['passes over names that are none', '/a?x', [set('', '1'), remove('')], '/a?x'],
    ['changes nothing unasked', '/a?&b=%zz&', [], '/a?&b=%zz&'],
  ] as const) {
    it(what, () => {
      expect(changeQuery(path, changes)).to.equal(expected);
    });
  }
});

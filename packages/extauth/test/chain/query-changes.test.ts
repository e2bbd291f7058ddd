import { expect } from 'chai';
import { changeQuery } from '../../src/chain/query-changes.ts';

const set = (name: string, value: string) => ({ op: 'set', name, value }) as const;
const remove = (name: string) => ({ op: 'remove', name }) as const;

describe('changes to a query', () => {
  for (const [what, path, changes, expected] of [
    ['sets a new parameter', '/a', [set('b', '1')], '/a?b=1'],
    ['appends to existing parameters', '/a?c=%7e', [set('b', '1')], '/a?c=%7e&b=1'],
    ['replaces all parameters of a name', '/a?b=1&c=2&b=3&b', [set('b', 'x')], '/a?b=x&c=2'],
    ['finds names in any escaping', '/a?%62=1&c+d=2', [set('b', 'x'), remove('c d')], '/a?b=x'],
    ['compares names case-sensitively', '/a?B=1', [remove('b')], '/a?B=1'],
    ['removes an empty query', '/a?b=1', [remove('b')], '/a'],
    ['removes a parameter that was set before', '/a', [set('b', '1'), remove('b')], '/a'],
    ['escapes values that contain separators', '/a', [set('b', '1&c=2#f')], '/a?b=1%26c=2%23f'],
    ['escapes names that contain separators', '/a', [set('b=1&c', '2')], '/a?b%3D1%26c=2'],
    ['escapes invalid characters', '/a', [set('b', 'ü "x"\r\n100%')], '/a?b=%C3%BC%20%22x%22%0D%0A100%25'],
    ['keeps escapes of the server', '/a', [set('b', 'x%20y+z')], '/a?b=x%20y+z'],
    ['accepts unpaired surrogates', '/a', [set('b', '\ud800')], '/a?b=%EF%BF%BD'],
    ['accepts invalid escapes of the client', '/a?%zz=1&b=%', [set('c', '1')], '/a?%zz=1&b=%&c=1'],
    ['ignores empty names', '/a?x', [set('', '1'), remove('')], '/a?x'],
    ['leaves other parameters unchanged', '/a?&b=%zz&', [], '/a?&b=%zz&'],
  ] as const) {
    it(what, () => {
      expect(changeQuery(path, changes)).to.equal(expected);
    });
  }
});

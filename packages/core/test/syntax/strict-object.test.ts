import { expect } from 'chai';
import { parseStrictObject } from '../../src/syntax/strict-json.ts';

describe('a strict object', () => {
  const GOOD = [
    '{}',
    '{"a":1}',
    '{"a":{"a":{"a":[{"a":1},{"a":2}]}}}',
    '{"a":":","b":"\\":\\\\","c":[":{",":"],"d:":null}',
    ' {\n"a" : "\\u003a" , "__proto__" : {"x":1} }\t',
    `${'{"a":'.repeat(100)}1${'}'.repeat(100)}`,
    `{"a":${'['.repeat(99)}${']'.repeat(99)}}`,
  ];
  for (const text of GOOD) {
    it(`is ${JSON.stringify(text.slice(0, 40))}`, () =>
      expect(parseStrictObject(text)).to.deep.equal(JSON.parse(text)));
  }

  const BAD: Readonly<Record<string, string>> = {
    'a name twice': '{"a":1,"a":1}',
    'a name twice, once escaped': '{"a":1,"\\u0061":2}',
    'a name twice, far within': '{"a":[{"b":{"c":1,"d":2,"c":3}}]}',
    'a name twice with a value that has names': '{"a":{"b":1},"a":{"b":1,"c":2}}',
    '__proto__ twice': '{"__proto__":1,"__proto__":2}',
    'a list': '[{}]',
    null: 'null',
    'a number': '1',
    nothing: '',
    'a comma at the end': '{"a":1,}',
    '101 levels of objects': `${'{"a":'.repeat(101)}1${'}'.repeat(101)}`,
    '101 levels of lists': `{"a":${'['.repeat(100)}${']'.repeat(100)}}`,
    'ten thousand levels': `{"a":${'['.repeat(10_000)}${']'.repeat(10_000)}}`,
  };
  for (const [name, text] of Object.entries(BAD)) {
    it(`is not ${name}`, () => expect(parseStrictObject(text)).to.equal(undefined));
  }
});

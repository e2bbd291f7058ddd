import { expect } from 'chai';
import type { TransformationTemplate } from '@edge-gateway/core/schema';
import { compileExtractor } from '../../src/transform/extractor.ts';

type Spec = NonNullable<TransformationTemplate['extractors']>[string];

const extract = (spec: Spec, value: string) => compileExtractor('e', { header: 'a', ...spec }).extract(value);

describe('extractors', () => {
  const replace = (replacementText: string, spec: Spec = {}): Spec => ({
    mode: 'REPLACE_ALL',
    replacementText,
    ...spec,
  });
  const single = (replacementText: string, spec: Spec = {}): Spec => ({
    mode: 'SINGLE_REPLACE',
    replacementText,
    ...spec,
  });
  const cases: [string, Spec, string, string][] = [
    ['take the whole match', { regex: 'a+' }, 'aaa', 'aaa'],
    ['take a group', { regex: '.*id=([^;]+).*', subgroup: 1 }, 'x=1; id=2; y=3', '2'],
    ['give nothing unless the whole value matches', { regex: 'a+' }, 'aab', ''],
    ['give nothing for a group that took no part', { regex: '(a)|(b)', subgroup: 1 }, 'b', ''],
    ['give nothing for a missing header', { regex: 'a' }, '', ''],
    ['match no line break with a dot', { regex: '.*' }, 'a\nb', ''],
    ['match everything with [\\s\\S]', { regex: '[\\s\\S]*' }, 'a\nb', 'a\nb'],
    ['replace one group', single('X', { regex: '(a)(b)(c)', subgroup: 2 }), 'abc', 'aXc'],
    ['replace the whole value by group 0', single('X', { regex: 'abc' }), 'abc', 'X'],
    ['take the text of a single replacement as it is', single('$1\\1', { regex: '(a)b', subgroup: 1 }), 'ab', '$1\\1b'],
    ['keep a value that does not match as a whole', single('X', { regex: 'a(b)', subgroup: 1 }), 'abc', 'abc'],
    ['keep a value whose group took no part', single('X', { regex: '(a)|b', subgroup: 1 }), 'b', 'b'],
    ['replace every match', replace('-', { regex: '\\s+' }), 'a  b c', 'a-b-c'],
    [
      'put in groups, the match and a dollar sign',
      replace('<$1|$&|$$|$>', { regex: '(b).' }),
      'abcbd',
      'a<b|bc|$|$><b|bd|$|$>',
    ],
    ['put in a backslash as it is', replace('\\1', { regex: '(a)' }), 'a', '\\1'],
    ['put in nothing for a group that is not there', replace('[$7]', { regex: 'a' }), 'a', '[]'],
    ['remove every match by an empty text', replace('', { regex: 'a' }), 'banana', 'bnn'],
  ];
  for (const [what, spec, value, wanted] of cases) {
    it(what, () => {
      expect(extract(spec, value)).to.equal(wanted);
    });
  }

  const refusals: [string, Spec, RegExp][] = [
    ['an invalid regex', { regex: '(' }, /RE2/],
    ['no regex', {}, /regex is required/],
    ['a group that the regex does not have', { regex: '(a)', subgroup: 2 }, /subgroup 2/],
    [
      'a replacement without a replacing mode',
      { regex: 'a', replacementText: 'b' },
      /needs mode SINGLE_REPLACE or REPLACE_ALL/,
    ],
    ['a single replacement without text', { regex: 'a', mode: 'SINGLE_REPLACE' }, /needs replacementText/],
    ['a replacement of all without text', { regex: 'a', mode: 'REPLACE_ALL' }, /needs replacementText/],
    ['a group in the replacement of all', replace('b', { regex: '(a)', subgroup: 1 }), /must be 0/],
    ['a back reference, which is not linear', { regex: '(a)\\1' }, /RE2/],
    ['a look-ahead, which is not linear', { regex: '(?=a)a' }, /RE2/],
    ['an invalid header name', { regex: 'a', header: 'a b' }, /invalid header name/],
  ];
  for (const [what, spec, message] of refusals) {
    it(`reject ${what}`, () => {
      expect(() => extract(spec, ''))
        .to.throw(message)
        .with.property('code', 'ERR_ROUTING_OPTION');
    });
  }

  it('read characters, not bytes, and return bytes', () => {
    const bytes = (text: string) => Buffer.from(text, 'utf8').toString('latin1');
    expect(extract({ regex: '[äöü]' }, bytes('ü'))).to.equal(bytes('ü'));
    expect(extract({ regex: '(.)(.)', subgroup: 2 }, bytes('aü'))).to.equal(bytes('ü'));
    expect(extract(replace('ö€', { regex: 'ä' }), bytes('bär'))).to.equal(bytes('bö€r'));
    expect(extract(single('ö', { regex: 'b(a)r', subgroup: 1 }), 'bar')).to.equal(bytes('bör'));
    // No text: bytes as they are.
    expect(extract(replace('ä', { regex: 'x' }), '\u00ffx')).to.equal(`\u00ff${bytes('ä')}`);
  });

  it('stay quick on input that makes other engines try without end', () => {
    const value = `${'a'.repeat(60_000)}!`;
    for (const regex of ['(a+)+', '(a|a)*', '(.*a){8}', '([a-z]+)*[0-9]']) {
      expect(extract({ regex }, value)).to.equal('');
      expect(extract(replace('', { regex: `${regex}$` }), value)).to.have.lengthOf(60_001);
    }
  });
});

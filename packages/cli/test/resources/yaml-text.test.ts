import { expect } from 'chai';
import { parseDocuments } from '@edge-gateway/core';
import { parseYamlText } from '../../src/resources/yaml-text.ts';

const parse = (text: string): unknown => parseYamlText(text, 'limits.yaml', 'ERR_CLI_USAGE');

function errorOf(text: string): string {
  try {
    parse(text);
  } catch (error) {
    return (error as Error).message;
  }
  return 'none';
}

/** A text for each error code of the parser that a text can cause. */
const MISTAKES: Readonly<Record<string, string>> = {
  ALIAS_PROPS: 'a: &x 1\nb: &y *x\n',
  BAD_ALIAS: 'a: *\n',
  BAD_DIRECTIVE: '%YAML\n---\na: 1\n',
  BAD_DQ_ESCAPE: 'a: "\\d"\n',
  BAD_INDENT: 'a:\n    b: 1\n  c: 2\n',
  BAD_PROP_ORDER: '- &x\n- !!str\n  &y a: 1\n b: 2\n',
  BAD_SCALAR_START: 'a: @b\n',
  BLOCK_AS_IMPLICIT_KEY: 'a: b: c\n',
  BLOCK_IN_FLOW: '{ a: |\n  x\n}\n',
  DUPLICATE_KEY: 'a: 1\na: 2\n',
  MISSING_CHAR: 'a: "x\n',
  MULTILINE_IMPLICIT_KEY: 'x: 1\na\nb: 2\n',
  MULTIPLE_ANCHORS: 'a: &x &y 1\n',
  MULTIPLE_TAGS: 'a: !!str !!int 1\n',
  TAB_AS_INDENT: 'a:\n\tb: 1\n',
  UNEXPECTED_TOKEN: 'a: [1] x\n',
};
/** Words of the parser. */
const JARGON = /implicit|compact|scalar|token|node|flow|block|collection|stream|mapping|sequence/i;

describe('parseYamlText', () => {
  it('returns the value, and nothing for comments', () => {
    expect(parse('a: [1]\n')).to.deep.equal({ a: [1] });
    expect(parse('- a\n')).to.deep.equal(['a']);
    expect(parse('# a\n')).to.equal(undefined);
  });

  for (const [code, text] of Object.entries(MISTAKES))
    it(`says where a text with ${code} is wrong, in the words of the gateway`, () => {
      const message = errorOf(text);
      expect(message)
        .to.match(/^limits\.yaml:\d+:\d+ {2}/)
        .and.not.match(JARGON);
      const [issue] = parseDocuments(text, 'limits.yaml')[0]!.issues;
      expect(message).to.contain(issue!.message);
    });

  it('names what only this parser rejects', () => {
    expect(errorOf('a: 1\n---\nb: 2\n')).to.equal('limits.yaml:2:1  more than one document  (write one, without ---)');
    expect(errorOf(`${'k'.repeat(1025)}: 1\n`)).to.match(/^limits\.yaml:1:\d+ {2}a key of more than 1024 characters$/);
  });
});

import { expect } from 'chai';
import { parseDocuments } from '../../src/parse/parse.ts';
import { findText, textPlace } from '../../src/parse/text-place.ts';

/** Where the word `here` is, as the text of the field says, and as the file does. */
function places(yaml: string): { told: string; written: string } {
  const document = parseDocuments(yaml, 'a.yaml').at(-1);
  const { text } = (document!.value as { spec: { text: string } }).spec;
  const { line, column } = document!.locate(['spec', 'text'], textPlace(text, text.indexOf('here')));
  const written = textPlace(yaml, yaml.lastIndexOf('here'));
  return { told: `${line}:${column}`, written: `${written.line}:${written.column}` };
}

const HEAD = 'kind: A\nmetadata: { name: a }\nspec:\n';

describe('a position inside the text of a field', () => {
  for (const [what, yaml] of [
    ['a literal block', `${HEAD}  text: |\n    one\n      two here\n`],
    ['a literal block that begins with empty lines', `${HEAD}  text: |\n\n\n    one here\n`],
    ['a literal block with a comment and signs', `${HEAD}  text: |- # a "note"\n    one\n    here\n`],
    ['a literal block with an indentation indicator', `${HEAD}  text: |2\n      one\n    here\n`],
    ['a folded block', `${HEAD}  text: >\n    one\n    two\n\n    three here\n`],
    ['a plain text of several lines', `${HEAD}  text: one\n    two\n    three here\n`],
    ['a text in single quotes', `${HEAD}  text: 'it''s\n    one here'\n`],
    ['a text in double quotes', `${HEAD}  text: "one \\"two\\"\\n\\t\\u0041\\x41 \\\n    here"\n`],
    ['a text in a flow', `${HEAD}  { more: [1], text: "one here" }\n`],
    ['a file with Windows lines', `${HEAD}  text: |\n    one\n    here\n`.replaceAll('\n', '\r\n')],
    ['the second document', `a: 1\n---\n${HEAD}  text: |\n    one here\n`],
    ['JSON', '{"kind":"A","spec":{"text":"one\\n\\u00e9 here"}}'],
  ] as const) {
    it(`is found in ${what}`, () => {
      const { told, written } = places(yaml);
      expect(told).to.equal(written);
    });
  }

  it('is that of the field if it is ambiguous', () => {
    const [document] = parseDocuments(`${HEAD}  first: &a |\n    one here\n  text: *a\n`, 'a.yaml');
    expect(document!.locate(['spec', 'text'], { line: 1, column: 5 })).to.include({ line: 6, column: 3 });
    expect(document!.locate(['spec', 'text'], { line: 9, column: 5 })).to.include({ line: 6, column: 3 });
    expect(document!.locate(['spec', 'none'], { line: 1, column: 1 })).to.include({ line: 3 });
    expect(findText({ source: 'one', offset: 0, value: 'two' }, { line: 1, column: 1 })).to.equal(undefined);
  });
});

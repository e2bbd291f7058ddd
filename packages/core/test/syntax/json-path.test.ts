import { expect } from 'chai';
import { parseJsonPath, textAt } from '../../src/syntax/json-path.ts';

describe('parseJsonPath', () => {
  for (const [text, path] of [
    ['{.metadata.name}', ['metadata', 'name']],
    ['.metadata.name', ['metadata', 'name']],
    ["{.metadata.labels['a.b/c']}", ['metadata', 'labels', 'a.b/c']],
    ['{.metadata.labels["a.b/c"].x}', ['metadata', 'labels', 'a.b/c', 'x']],
    ['{.metadata.labels.app\\.kubernetes\\.io/name}', ['metadata', 'labels', 'app.kubernetes.io/name']],
    ['{.spec.hosts[0].addr}', ['spec', 'hosts', 0, 'addr']],
  ] as const) {
    it(`reads ${text}`, () => expect(parseJsonPath(text)).to.deep.equal(path));
  }

  for (const text of [
    '',
    '{}',
    '.',
    'metadata.name',
    '{.metadata.name',
    '{.metadata..name}',
    '{.items[*].name}',
    '{.items[?(@.x)]}',
    '{$.metadata}',
    '{.a}{.b}',
    ".a['b]",
    '.a[-1]',
    `.a[${'9'.repeat(20)}]`,
  ]) {
    it(`rejects ${JSON.stringify(text)}`, () => expect(parseJsonPath(text)).to.equal(undefined));
  }

  it('takes linear time', () => {
    const before = process.cpuUsage();
    parseJsonPath(`${'.a\\.'.repeat(100_000)}[`);
    parseJsonPath(`{${'{'.repeat(200_000)}`);
    expect(process.cpuUsage(before).user / 1000).to.be.below(2000);
  });
});

describe('textAt', () => {
  const value = { a: { b: 'text', n: 3, t: false, none: null }, list: [{ x: 1 }] };
  it('returns single values as text', () => {
    expect(textAt(value, ['a', 'b'])).to.equal('text');
    expect(textAt(value, ['a', 'n'])).to.equal('3');
    expect(textAt(value, ['a', 't'])).to.equal('false');
    expect(textAt(value, ['list', 0, 'x'])).to.equal('1');
  });
  it('returns nothing for other values, and for inherited ones', () => {
    for (const path of [['a'], ['list'], ['a', 'none'], ['a', 'c', 'd'], ['a', 'b', 'length'], ['toString', 'name']]) {
      expect(textAt(value, path), path.join('.')).to.equal('');
    }
  });
});

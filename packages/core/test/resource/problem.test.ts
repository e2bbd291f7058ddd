import { expect } from 'chai';
import { boundedProblem, cutText, groupByCause, type Problem } from '../../src/resource/problem.ts';

describe('groupByCause', () => {
  const issue = (message: string, cause?: string): Problem => ({
    code: 'STATUS',
    severity: 'error',
    origin: { file: 'a.yaml', line: 1, column: 1 },
    path: [],
    message,
    ...(cause && { cause }),
  });

  it('groups problems of one cause and keeps their order', () => {
    const [a, b, c, d] = [issue('a', 'x'), issue('b'), issue('c', 'x'), issue('d', 'y')] as const;
    expect(groupByCause([a, b, c, d])).to.deep.equal([[a, c], [b], [d]]);
  });

  it('does not group equal problems without a cause', () => {
    expect(groupByCause([issue('a'), issue('a')])).to.have.length(2);
  });
});

describe('cutText', () => {
  it('returns a short text unchanged, and the begin of a long one', () => {
    expect(cutText('abc', 3)).to.equal('abc');
    expect(cutText('abcd', 3)).to.equal('ab…');
  });

  it('never ends in half of a character', () => {
    expect(cutText('a😀bcd', 3)).to.equal('a\uFFFD…');
  });
});

describe('boundedProblem', () => {
  const problem: Problem = {
    code: 'UNKNOWN_KIND',
    severity: 'error',
    origin: { file: 'a.yaml', line: 1, column: 1 },
    path: ['spec', 0, 'key'],
    message: 'message',
  };

  it('returns a short problem itself', () => {
    expect(boundedProblem(problem)).to.equal(problem);
  });

  it('cuts every text of a problem', () => {
    const long = 'x'.repeat(10_000);
    const texts = { kind: long, namespace: long, name: long, route: long, cause: long, message: long, hint: long };
    const cut = boundedProblem({ ...problem, ...texts, path: [long, 0, long] });
    for (const text of Object.keys(texts)) expect(cut[text as 'kind'], text).to.have.length.below(2049);
    expect(cut.path.map((step) => String(step).length)).to.deep.equal([256, 1, 256]);
    expect(cut.origin).to.equal(problem.origin);
  });
});

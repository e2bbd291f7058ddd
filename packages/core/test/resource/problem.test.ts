import { expect } from 'chai';
import { groupByCause, type Problem } from '../../src/resource/problem.ts';

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

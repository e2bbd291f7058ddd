import { expect } from 'chai';
import { formatOperatorAt } from '../../src/syntax/format-operator.ts';

describe('an operator of a format', () => {
  for (const [format, expected] of [
    ['%PROTOCOL% a', { written: '%PROTOCOL%', name: 'PROTOCOL' }],
    [
      '%REQ(X-A?:PATH):10%%REQ(b)%',
      { written: '%REQ(X-A?:PATH):10%', name: 'REQ', argument: 'X-A?:PATH', maxLength: '10' },
    ],
    ['%START_TIME(%Y-%m%%)%', { written: '%START_TIME(%Y-%m%%)%', name: 'START_TIME', argument: '%Y-%m%%' }],
    ['%REQ()%', { written: '%REQ()%', name: 'REQ', argument: '' }],
  ] as const)
    it(`is read from ${format}`, () => {
      expect(formatOperatorAt(format, 0)).to.deep.equal(expected);
      expect(formatOperatorAt(`%% ${format}`, 3)).to.deep.equal(expected);
    });

  for (const format of ['', '%', '%%PROTOCOL%', '% A%', 'PROTOCOL%', '%A', '%A(b%', '%A(b)', '%A(b)c%', '%A:b%', '%a%'])
    it(`is not read from '${format}'`, () => {
      expect(formatOperatorAt(format, 0)).to.equal(undefined);
    });

  it('is searched in a time that does not grow exponentially with percent signs', () => {
    for (const repeated of ['%', '%a'])
      expect(formatOperatorAt(`%REQ(${repeated.repeat(20_000)}`, 0)).to.equal(undefined);
  });
});

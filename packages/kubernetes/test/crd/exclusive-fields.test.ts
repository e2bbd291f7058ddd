import { expect } from 'chai';
import { exclusiveFields } from '../../src/crd/exclusive-fields.ts';

const text = { type: 'string' } as const;
const fields = { a: text, b: text, namespace: text, free: {} };

describe('exclusiveFields', () => {
  it('has an expression for a block that appears once', () => {
    expect(exclusiveFields([{ members: ['a', 'b'] }], { fields, isSingle: true })).to.deep.equal({
      'x-kubernetes-validations': [
        {
          rule: '(has(self.a) ? 1 : 0) + (has(self.b) ? 1 : 0) <= 1',
          message: 'only one of a, b can be set',
        },
      ],
    });
  });

  it('has a second expression if one of the fields is required', () => {
    const rules = [{ members: ['a', 'b'], required: true, message: 'needs a body' }];
    const { 'x-kubernetes-validations': expressions } = exclusiveFields(rules, { fields, isSingle: true }) as any;
    expect(expressions[1]).to.deep.equal({ rule: 'has(self.a) || has(self.b)', message: 'needs a body: set a, b' });
  });

  it('escapes names that are words of the expression language', () => {
    const rules = [{ members: ['a', 'namespace'] }];
    const { 'x-kubernetes-validations': expressions } = exclusiveFields(rules, { fields, isSingle: true }) as any;
    expect(expressions[0].rule).to.contain('has(self.__namespace__)');
  });

  it('has alternatives for a block in a list, whose expressions would cost too much', () => {
    expect(exclusiveFields([{ members: ['a', 'b'] }], { fields, isSingle: false })).to.deep.equal({
      oneOf: [{ not: { anyOf: [{ required: ['a'] }, { required: ['b'] }] } }, { required: ['a'] }, { required: ['b'] }],
    });
  });

  it('has alternatives without the empty one if a field is required', () => {
    const rules = [{ members: ['a', 'b'], required: true }];
    expect(exclusiveFields(rules, { fields, isSingle: false })).to.deep.equal({
      oneOf: [{ required: ['a'] }, { required: ['b'] }],
    });
  });

  it('has alternatives if a field has no type, which expressions cannot refer to', () => {
    expect(exclusiveFields([{ members: ['a', 'free'] }], { fields, isSingle: true })).to.have.property('oneOf');
  });

  it('combines the alternatives of several groups', () => {
    const rules = [{ members: ['a', 'b'] }, { members: ['namespace', 'free'] }];
    const { allOf } = exclusiveFields(rules, { fields, isSingle: false }) as any;
    expect(allOf).to.have.length(2);
  });

  it('has nothing for a group of one optional field', () => {
    expect(exclusiveFields([{ members: ['a'] }], { fields, isSingle: false })).to.deep.equal({});
  });
});

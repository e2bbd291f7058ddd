import { expect } from 'chai';
import { fromStruct, toStruct } from '../../src/grpc/struct.ts';
import { parseJson } from '../../src/syntax/exact-number.ts';

describe('google.protobuf.Struct', () => {
  it('keeps JSON values both ways', () => {
    const value = { a: 1.5, b: 'text', c: [true, null], d: { e: {} } };
    const { fields } = toStruct({ ...value, gone: undefined });
    expect(Object.keys(fields!)).to.deep.equal(['a', 'b', 'c', 'd']);
    expect(fields!['c']).to.deep.equal({ listValue: { values: [{ boolValue: true }, { nullValue: 0 }] } });
  });

  it('has a number that a double cannot represent as a string with all digits', () => {
    const { fields } = toStruct(parseJson('{"ids": [9007199254740993, 1e22, 7]}') as object);
    expect(fields!['ids']!.listValue!.values).to.deep.equal([
      { stringValue: '9007199254740993' },
      { stringValue: '1e22' },
      { numberValue: 7 },
    ]);
  });

  it('is read by the kind of each value', () => {
    const list = { kind: 'listValue', listValue: { values: [{ kind: 'boolValue', boolValue: false }] } } as const;
    expect(fromStruct({ fields: { list, none: { kind: 'nullValue', nullValue: 0 } } })).to.deep.equal({
      list: [false],
      none: null,
    });
  });
});

import { create, toBinary, type Registry } from '@bufbuild/protobuf';
import {
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from '@bufbuild/protobuf/wkt';
import { expect } from 'chai';
import { decodeJson, encodeJson } from '../../../src/resolvers/grpc/message-json.ts';
import { messageRegistry } from '@edge-gateway/core/descriptors';

const KNOWN = ['timestamp', 'duration', 'wrappers', 'struct', 'field_mask', 'any'];
const WELL_KNOWN = (name: string): string => `.google.protobuf.${name}`;

/** Fields by name: a scalar type, or the full name of a message; `[]` is a list, `{}` a map of strings to it. */
const FIELDS: Readonly<Record<string, string>> = {
  at: WELL_KNOWN('Timestamp'),
  took: WELL_KNOWN('Duration'),
  text: WELL_KNOWN('StringValue'),
  long: WELL_KNOWN('Int64Value'),
  flag: WELL_KNOWN('BoolValue'),
  object: WELL_KNOWN('Struct'),
  any: WELL_KNOWN('Value'),
  list: WELL_KNOWN('ListValue'),
  mask: WELL_KNOWN('FieldMask'),
  times: `${WELL_KNOWN('Timestamp')}[]`,
  durations: `${WELL_KNOWN('Duration')}{}`,
  small: 'INT32',
  natural: 'UINT32',
  big: 'INT64',
  ratio: 'DOUBLE',
  sure: 'BOOL',
  colour: '.test.Colour',
  name: 'STRING',
  numbers: 'INT32[]',
  labels: 'STRING{}',
  packed: WELL_KNOWN('Any'),
  raw: 'BYTES',
  huge: 'UINT64',
  precise: 'FLOAT',
  nothing: '.google.protobuf.NullValue',
  inner_most: '.test.All',
  part: '.test.All.Part',
  left_hand: 'STRING|side',
  right_hand: 'INT32|side',
  values: `${WELL_KNOWN('Value')}[]`,
};
const ENUMS = new Set(['.test.Colour', '.google.protobuf.NullValue']);

const pascal = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

function fieldOf(name: string, number: number, written: string): object {
  const [plain = ''] = written.split(/[[{|]/);
  const isMap = written.endsWith('{}');
  const typeName = isMap ? `.test.All.${pascal(name)}Entry` : plain.startsWith('.') ? plain : '';
  const type = typeName === '' ? Type[plain as 'INT32'] : ENUMS.has(typeName) ? Type.ENUM : Type.MESSAGE;
  const label = /[\]}]$/.test(written) ? Label.REPEATED : Label.OPTIONAL;
  return { name, number, type, typeName, label, ...(written.endsWith('|side') && { oneofIndex: 0 }) };
}

/** Types as a set has them: without the files of Google, which it imports, and without names in JSON. */
function typesOf(): Registry {
  const maps = Object.entries(FIELDS).filter(([, written]) => written.endsWith('{}'));
  const file = create(FileDescriptorProtoSchema, {
    name: 'test.proto',
    package: 'test',
    syntax: 'proto3',
    dependency: [...KNOWN.map((name) => `google/protobuf/${name}.proto`), 'google/api/not-there.proto'],
    enumType: [{ name: 'Colour', value: ['RED', 'GREEN'].map((name, number) => ({ name, number })) }],
    messageType: [
      {
        name: 'All',
        field: Object.entries(FIELDS).map(([name, written], i) => fieldOf(name, i + 1, written)),
        oneofDecl: [{ name: 'side' }],
        nestedType: [
          { name: 'Part', field: [fieldOf('first_name', 1, 'STRING')] },
          ...maps.map(([name, written]) => ({
            name: `${pascal(name)}Entry`,
            options: { mapEntry: true },
            field: [fieldOf('key', 1, 'STRING'), fieldOf('value', 2, written.slice(0, -2))],
          })),
        ],
      },
    ],
  });
  return messageRegistry(toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file: [file] })));
}

describe('messages of protocol buffers as JSON', () => {
  const types = typesOf();
  const type = types.getMessage('test.All')!;
  /** What comes back of what is sent, by the names that were sent. */
  const sent = (json: object): object => {
    const back = decodeJson(type, encodeJson(type, json, types), types) as Record<string, unknown>;
    return Object.fromEntries(Object.keys(json).map((key) => [key, back[key]]));
  };

  const same: object[] = [
    { at: '2024-02-29T10:00:00Z' },
    { at: '1969-12-31T23:59:59.000005Z' },
    { took: '-1.250s' },
    { took: '3s' },
    { text: '' },
    { long: '9007199254740993' },
    { flag: false },
    { object: { a: null, b: [1, { c: 'x' }], d: true, e: {} } },
    { any: 0 },
    { any: ['x', null, { y: [] }] },
    { any: {} },
    { list: [null, 1, 'a', [2]] },
    { mask: 'fullName,address.zipCode' },
    { times: ['2024-01-01T00:00:00Z', '2025-01-01T00:00:00.120Z'] },
    { durations: { a: '1s' } },
    { labels: { a: 'b', __proto__x: '' } },
    { small: -2_147_483_648, natural: 4_294_967_295, big: '-9223372036854775808', ratio: 1.5, sure: true },
    { colour: 'GREEN', name: 'n', numbers: [1, 2] },
    { ratio: 'NaN' },
    { ratio: 'Infinity', precise: '-Infinity' },
    { ratio: 5e-324, precise: 0.5 },
    { huge: '18446744073709551615', raw: 'AAECAw==' },
    { raw: '' },
    { any: null },
    { values: [null, 'NaN', 1.5, { a: [null] }] },
    { nothing: null },
    { leftHand: 'x', rightHand: null },
    { leftHand: null, rightHand: 0 },
    { colour: 7 },
    { packed: { '@type': 'type.googleapis.com/google.protobuf.Duration', value: '1.500s' } },
    { packed: { '@type': 'type.googleapis.com/google.protobuf.Value', value: { a: [1] } } },
  ];
  for (const json of same) {
    it(`${JSON.stringify(json)} round-trips`, () => {
      expect(sent(json)).to.deep.equal(json);
    });
  }

  it('accepts numbers as text, other time zones, and timestamps by their fields', () => {
    expect(sent({ small: '-5', ratio: '1e3', natural: '7' })).to.deep.equal({ small: -5, ratio: 1000, natural: 7 });
    expect(sent({ at: '2024-01-01T00:00:00.5+02:00' })).to.deep.equal({ at: '2023-12-31T22:00:00.500Z' });
    expect(sent({ at: { seconds: 5 } })).to.deep.equal({ at: '1970-01-01T00:00:05Z' });
  });

  it('reads an Any of a known type with its fields, and of an unknown one with its type', () => {
    const url = 'type.googleapis.com/test.All';
    const { packed } = sent({ packed: { '@type': url, big: '1', colour: 'GREEN' } }) as { packed: object };
    expect(packed).to.include({ '@type': url, big: '1', colour: 'GREEN' });
    const other = messageRegistry(new Uint8Array());
    const bytes = encodeJson(type, { name: 'n', packed: { '@type': url, big: '1' } }, types);
    const read = decodeJson(type, bytes, other) as { name: string; packed: object };
    expect(read.name).to.equal('n');
    expect(read.packed).to.have.property('@type', url);
  });

  it('names nested fields both ways, and ignores unknown keys', () => {
    const back = sent({ inner_most: { innerMost: { name: 'deep' } }, unknown: { a: 1 } }) as any;
    expect(back.inner_most.inner_most.name).to.equal('deep');
    expect(back.inner_most).to.have.property('innerMost');
    expect(back.unknown).to.equal(undefined);
  });

  it('names the fields of a type that is declared within another type', () => {
    const back = sent({ part: { firstName: 'x' } });
    expect(back).to.deep.equal({ part: { first_name: 'x', firstName: 'x' } });
  });

  it('converts numbers and booleans to text, and accepts well-known messages by their fields', () => {
    expect(sent({ name: 7 })).to.deep.equal({ name: '7' });
    expect(sent({ name: true, labels: { a: 1 } })).to.deep.equal({ name: 'true', labels: { a: '1' } });
    expect(sent({ took: { seconds: '-1', nanos: -5e8 } })).to.deep.equal({ took: '-1.500s' });
    expect(sent({ text: { value: 'x' }, mask: { paths: ['full_name'] } })).to.deep.equal({
      text: 'x',
      mask: 'fullName',
    });
  });

  it('rejects a message that is nested too deeply', () => {
    let json: object = { name: 'x' };
    for (let i = 0; i < 100; i++) json = { innerMost: json };
    expect(() => encodeJson(type, json, types)).to.throw('nested too deep');
  });

  it('returns null for a missing message', () => {
    const back = decodeJson(type, new Uint8Array(), types) as Record<string, unknown>;
    expect([back['at'], back['text'], back['object'], back['any']]).to.deep.equal([null, null, null, null]);
  });

  const refused: object[] = [
    { small: 'abc' },
    { small: 1.5 },
    { small: 2_147_483_648 },
    { small: [1] },
    { natural: -1 },
    { big: '9223372036854775808' },
    { big: '12x' },
    { ratio: 'x' },
    { sure: 'true' },
    { colour: 'BLUE' },
    { colour: '1' },
    { colour: 'constructor' },
    { name: {} },
    { numbers: [1, 'x'] },
    { labels: { a: {} } },
    { labels: [] },
    { long: 'x' },
    { at: 'tomorrow' },
    { at: 5 },
    { took: '5' },
    { list: 5 },
    { object: 'x' },
    { leftHand: 'x', rightHand: 1 },
    { raw: '***' },
    { huge: '-1' },
    { ratio: Number.POSITIVE_INFINITY },
    { precise: 1e39 },
    { took: '315576000001s' },
    { at: '10000-01-01T00:00:00Z' },
    { mask: 'full_name' },
    { packed: { '@type': 'type.googleapis.com/test.Unknown' } },
    { packed: { name: 'x' } },
  ];
  for (const json of refused) {
    it(`${JSON.stringify(json)} is rejected`, () => {
      expect(() => encodeJson(type, json, types)).to.throw(Error);
    });
  }
});

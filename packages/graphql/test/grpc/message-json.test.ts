import { expect } from 'chai';
import protobuf from 'protobufjs';
import descriptor from 'protobufjs/ext/descriptor/index.js';
import { rootOfDescriptorSet } from '../../src/discover/descriptor-set.ts';
import { jsonOf, messageOf } from '../../src/grpc/message-json.ts';

const PROTO = `
  syntax = "proto3";
  package test;
  message All {
    google.protobuf.Timestamp at = 1;
    google.protobuf.Duration took = 2;
    google.protobuf.StringValue text = 3;
    google.protobuf.Int64Value long = 4;
    google.protobuf.BoolValue flag = 5;
    google.protobuf.Struct object = 6;
    google.protobuf.Value any = 7;
    google.protobuf.ListValue list = 8;
    google.protobuf.FieldMask mask = 9;
    repeated google.protobuf.Timestamp times = 10;
    map<string, google.protobuf.Duration> durations = 11;
    int32 small = 12;
    uint32 natural = 13;
    int64 big = 14;
    double ratio = 15;
    bool sure = 16;
    Colour colour = 17;
    string name = 18;
    repeated int32 numbers = 19;
    map<string, string> labels = 20;
  }
  enum Colour { RED = 0; GREEN = 1; }`;

/** The type as it is read from descriptors: its fields are named as they are written. */
function typeOf(name: string): protobuf.Type {
  const { root } = protobuf.parse(PROTO, new protobuf.Root());
  for (const file of ['timestamp', 'duration', 'wrappers', 'struct', 'field_mask']) {
    root.addJSON(protobuf.common.get(`google/protobuf/${file}.proto`)!.nested!);
  }
  root.resolveAll();
  const set = (root as unknown as { toDescriptor(syntax: string): protobuf.Message }).toDescriptor('proto3');
  return rootOfDescriptorSet(descriptor.FileDescriptorSet.encode(set).finish()).lookupType(name);
}

describe('messages of protocol buffers as JSON', () => {
  const type = typeOf('test.All');
  /** What comes back of what is sent, by the names that were sent. */
  const sent = (json: object): object => {
    const back = jsonOf(type, type.encode(messageOf(type, json)).finish()) as Record<string, unknown>;
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
  ];
  for (const json of same) {
    it(`${JSON.stringify(json)} is sent and read as it is`, () => {
      expect(sent(json)).to.deep.equal(json);
    });
  }

  it('takes numbers as text, another time zone, and the fields of a point in time', () => {
    expect(sent({ small: '-5', ratio: '1e3', natural: '7' })).to.deep.equal({ small: -5, ratio: 1000, natural: 7 });
    expect(sent({ at: '2024-01-01T00:00:00.5+02:00' })).to.deep.equal({ at: '2023-12-31T22:00:00.500Z' });
    expect(sent({ at: { seconds: 5 } })).to.deep.equal({ at: '1970-01-01T00:00:05Z' });
  });

  it('has null for a message that is not there', () => {
    const back = jsonOf(type, new Uint8Array()) as Record<string, unknown>;
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
  ];
  for (const json of refused) {
    it(`${JSON.stringify(json)} does not fit, and is not sent as something else`, () => {
      expect(() => messageOf(type, json)).to.throw(Error);
    });
  }
});

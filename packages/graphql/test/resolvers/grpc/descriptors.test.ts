import { expect } from 'chai';
import protobuf from 'protobufjs';
import descriptor from 'protobufjs/ext/descriptor/index.js';
import { methodTypes, readDescriptors } from '../../../src/resolvers/grpc/descriptors.ts';

function setOf(packageName: string): string {
  const types = { requestType: 'M', responseType: 'M', comment: '' };
  const root = protobuf.Root.fromJSON({
    nested: {
      [packageName]: {
        options: { syntax: 'proto3' },
        nested: {
          M: { fields: { a: { type: 'string', id: 1 } } },
          S: {
            methods: {
              One: types,
              Up: { ...types, requestStream: true },
              Down: { ...types, responseStream: true },
              Both: { ...types, requestStream: true, responseStream: true },
            },
          },
        },
      },
    },
  });
  const set = (root as unknown as { toDescriptor(syntax: string): protobuf.Message }).toDescriptor('proto3');
  return Buffer.from(descriptor.FileDescriptorSet.encode(set).finish()).toString('base64');
}

describe('descriptors of gRPC services', () => {
  const types = readDescriptors({ protoDescriptorBin: setOf('a') }, [setOf('b')])!;

  it('contain the methods of all sets', () => {
    expect(methodTypes(types, 'a.S', 'One').request.typeName).to.equal('a.M');
    expect(methodTypes(types, 'b.S', 'One').response.typeName).to.equal('b.M');
  });

  for (const method of ['Up', 'Down', 'Both'])
    it(`reject the streaming method ${method}`, () => {
      expect(() => methodTypes(types, 'a.S', method)).to.throw(`streaming method a.S/${method} is not supported`);
    });

  it('reject a method that none of them has', () => {
    expect(() => methodTypes(types, 'a.S', 'Two')).to.throw('the descriptors have no method a.S/Two');
    expect(() => methodTypes(types, 'c.S', 'One')).to.throw('the descriptors have no method c.S/One');
  });

  it('are read by reflection only if a resource names none', () => {
    expect(readDescriptors(undefined, [])).to.equal(undefined);
    expect(readDescriptors({ protoRefsList: {} }, [])).to.equal(undefined);
    expect(() => readDescriptors({ protoDescriptor: 'a.bin' }, [])).to.throw(
      "protoDescriptor: 'a.bin' has never been valid",
    );
  });
});

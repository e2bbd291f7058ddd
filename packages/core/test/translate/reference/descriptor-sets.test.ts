import { expect } from 'chai';
import type { SnapshotUpstream } from '../../../src/contract/snapshot.ts';
import type { GrpcJsonTranscoder } from '../../../src/schema/index.ts';
import { transcoderRef } from '../../../src/translate/reference/descriptor-sets.ts';

/** The bytes of a descriptor set, with the tag of the option `google.api.http` or without it. */
const bytes = (tag: string): string => Buffer.from(`0a0568656c6c6f${tag}00`, 'hex').toString('base64');
const [WITH_RULE, WITHOUT_RULE] = [bytes('82d3e49302'), bytes('82d3e49303')];

const refOf = (grpcJsonTranscoder?: GrpcJsonTranscoder, descriptorSet?: string) => {
  const upstream: SnapshotUpstream = {
    name: 'up_gw-system',
    ref: { name: 'up', namespace: 'gw-system' },
    spec: { static: { hosts: [], ...(grpcJsonTranscoder && { serviceSpec: { grpcJsonTranscoder } }) } },
    endpoints: [],
    tls: false,
    ...(descriptorSet !== undefined && { descriptorSet }),
  };
  return transcoderRef(upstream);
};

describe('the transcoder of an upstream', () => {
  it('translates if a method may have an HTTP rule', () => {
    expect(refOf({ protoDescriptorBin: WITH_RULE })).to.include({ upstream: 'up_gw-system' });
    expect(refOf({ protoDescriptorBin: WITHOUT_RULE, autoMapping: true })).to.include({ upstream: 'up_gw-system' });
    // Its descriptors are not in the resource.
    expect(refOf({ protoDescriptor: 'shop.pb' })).to.include({ upstream: 'up_gw-system' });
  });

  it('translates nothing without any, as those that are discovered for services without HTTP rules', () => {
    expect(refOf({ protoDescriptorBin: WITHOUT_RULE })).to.equal(undefined);
    expect(refOf()).to.equal(undefined);
  });

  it('has another version with other descriptors', () => {
    const versions = [
      refOf({ protoDescriptorBin: WITH_RULE }),
      refOf({ protoDescriptorBin: WITH_RULE, autoMapping: true }),
      refOf({ protoDescriptor: 'shop.pb' }, 'YQ=='),
      refOf({ protoDescriptor: 'shop.pb' }, 'Yg=='),
    ].map((ref) => ref!.version);
    expect(new Set(versions).size).to.equal(4);
  });
});

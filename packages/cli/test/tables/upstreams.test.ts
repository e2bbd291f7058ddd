import { expect } from 'chai';
import type { StatusObject } from '../../src/resources/objects.ts';
import { UPSTREAM } from '../../src/tables/upstreams.ts';

/** The descriptor set of `books.v1.Books` with the methods Get and List. */
const BOOKS =
  'Cn8KC2Jvb2tzLnByb3RvEghib29rcy52MSIGCgRCb29rMlYKBUJvb2tzEiUKA0dldBIOLmJvb2tzLnYxLkJvb2saDi5ib29rcy52MS5Cb29rEiYKBExpc3QSDi5ib29rcy52MS5Cb29rGg4uYm9va3MudjEuQm9va2IGcHJvdG8z';

const shown = (grpcJsonTranscoder: object): unknown[] => {
  const upstream = {
    apiVersion: 'gw.vendor.io/v1',
    kind: 'Upstream',
    metadata: { name: 'books', namespace: 'gw-system' },
    spec: { static: { hosts: [{ addr: 'a', port: 1 }], serviceSpec: { grpcJsonTranscoder } } },
  } as unknown as StatusObject;
  return UPSTREAM['Details']!(upstream, []) as unknown[];
};

describe('the table of Upstreams', () => {
  it('shows the methods of services that are discovered by reflection', () => {
    expect(shown({ protoDescriptorBin: BOOKS, services: ['books.v1.Books', 'books.v1.Other'] })).to.deep.equal([
      'hosts:',
      '- a:1',
      'gRPC service:',
      '  books.v1.Books',
      '  - Get',
      '  - List',
      '  books.v1.Other',
      '',
    ]);
  });

  it('shows only the services of descriptors in a file, or that cannot be read', () => {
    for (const transcoder of [{ protoDescriptor: 'books.pb' }, { protoDescriptorBin: 'eA==' }])
      expect(shown({ ...transcoder, services: ['books.v1.Books'] }).slice(2)).to.deep.equal([
        'gRPC service:',
        '  books.v1.Books',
        '',
      ]);
  });
});

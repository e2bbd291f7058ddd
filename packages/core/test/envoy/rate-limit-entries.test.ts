import { expect } from 'chai';
import { entriesOf } from '../../src/envoy/rate-limit-entries.ts';

describe('entries of rate limits', () => {
  it('have every kind of action', () => {
    const headers = [
      { name: 'a', exactMatch: 'x', invertMatch: true },
      { name: 'b', regexMatch: 'y.*' },
      { name: 'c', rangeMatch: { start: 1, end: 5 } },
      { name: 'd', presentMatch: true },
    ];
    const metadata = { descriptorKey: 'org', metadataKey: { key: 'k', path: [{ key: 'p' }] }, defaultValue: 'none' };
    const actions = [
      { sourceCluster: {} },
      { destinationCluster: {} },
      { remoteAddress: {} },
      { requestHeaders: { headerName: ':path', descriptorKey: 'path' } },
      { headerValueMatch: { descriptorValue: 'v', expectMatch: false, headers } },
      { metadata },
    ];
    const limit = { dynamicMetadata: { metadataKey: { key: 'quota' } } };
    const cost = { header: { headerName: 'x-cost' } };
    expect(entriesOf({ actions, limit, cost }, [], {})).to.deep.equal([
      {
        actions: [
          { source_cluster: {} },
          { destination_cluster: {} },
          { remote_address: {} },
          { request_headers: { header_name: ':path', descriptor_key: 'path' } },
          {
            header_value_match: {
              descriptor_value: 'v',
              expect_match: false,
              headers: [
                { name: 'a', string_match: { exact: 'x' }, invert_match: true },
                { name: 'b', string_match: { safe_regex: { regex: 'y.*' } } },
                { name: 'c', range_match: { start: 1, end: 5 } },
                { name: 'd', present_match: true },
              ],
            },
          },
          {
            metadata: {
              descriptor_key: 'org',
              metadata_key: { key: 'k', path: [{ key: 'p' }] },
              default_value: 'none',
            },
          },
        ],
        limit: { dynamic_metadata: { metadata_key: { key: 'quota' } } },
        hits_addend: { format: '%REQ(x-cost)%' },
      },
    ]);
  });

  it('contain credentials only for Envoys', () => {
    const headers = [
      { name: 'authorization', exactMatch: 'MARKER' },
      { name: 'x-api-key', regexMatch: 'MARKER' },
    ];
    const actions = [{ headerValueMatch: { descriptorValue: 'v', headers } }];
    const shown = JSON.stringify(entriesOf({ actions }, [], {}));
    expect(shown).to.contain('authorization').and.not.contain('MARKER');
    const served = JSON.stringify(entriesOf({ actions }, [], { services: {} }));
    expect(served.match(/MARKER/g)).to.have.length(2);
  });
});

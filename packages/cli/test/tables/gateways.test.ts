import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import type { StatusObject } from '../../src/resources/objects.ts';
import { PROXY } from '../../src/tables/gateways.ts';

const LISTENERS = [
  { bindAddress: '::', bindPort: 8080, httpListener: { virtualHosts: [{ name: 'a' }, { name: 'b' }] } },
  { bindAddress: '::', bindPort: 8443, httpListener: { virtualHosts: [{ name: 'c' }] } },
];

const proxy = (spec: object): StatusObject =>
  ({
    apiVersion: 'gw.vendor.io/v1',
    kind: 'Proxy',
    metadata: { name: 'gateway-proxy', namespace: 'gw-system' },
    spec,
  }) as unknown as StatusObject;

const shown = (spec: object): unknown[] =>
  ['Listeners', 'Virtual Hosts'].map((column) => PROXY[column]!(proxy(spec), []));

describe('the table of Proxies', () => {
  it('shows listeners and virtual hosts, also of compressed Proxies', () => {
    const expected = [[':::8080', ':::8443'], '3'];
    expect(shown({ listeners: LISTENERS })).to.deep.equal(expected);
    const compressedSpec = gzipSync(JSON.stringify({ listeners: LISTENERS })).toString('base64');
    expect(shown({ compressedSpec })).to.deep.equal(expected);
  });

  it('shows none of a compressed Proxy that cannot be read', () => {
    expect(shown({ compressedSpec: 'x' })).to.deep.equal([[], '0']);
  });
});

import { expect } from 'chai';
import { createContext } from '@edge-gateway/core';
import {
  applyHeaderOps,
  compileHeaderManipulation,
  orderLevels,
} from '../../../src/route/options/header-manipulation.ts';
import { recordOf } from '../../records.ts';

const context = createContext();
type Block = Parameters<typeof compileHeaderManipulation>[0];

function change(block: Block, flat: string[]): string[] {
  applyHeaderOps(flat, compileHeaderManipulation(block, context).request, recordOf({ headers: flat }));
  return flat;
}

describe('header manipulation', () => {
  it('removes before it adds', () => {
    const block = { requestHeadersToAdd: [{ header: { key: 'x-a', value: '2' } }], requestHeadersToRemove: ['X-A'] };
    expect(change(block, ['x-a', '1', 'x-b', '1'])).to.deep.equal(['x-b', '1', 'x-a', '2']);
  });

  it('appends by default', () => {
    const header = { key: 'x-a', value: '2' };
    expect(change({ requestHeadersToAdd: [{ header }] }, ['x-a', '1'])).to.deep.equal(['x-a', '1', 'x-a', '2']);
    const overwrite = { requestHeadersToAdd: [{ header, append: false }] };
    expect(change(overwrite, ['x-a', '1', 'x-b', '1', 'x-a', '3'])).to.deep.equal(['x-a', '2', 'x-b', '1']);
  });

  it('renders operators and omits a value that is rendered empty', () => {
    const add = (value: string): Block => ({ requestHeadersToAdd: [{ header: { key: 'x-new', value } }] });
    expect(change(add('100%% of %REQ(X-A?X-B)%'), ['x-b', 'b'])).to.deep.equal(['x-b', 'b', 'x-new', '100% of b']);
    expect(change(add('%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT%:%UPSTREAM_CLUSTER%'), [])).to.deep.equal([
      'x-new',
      '10.0.0.1:up_gw-system',
    ]);
    expect(change(add('%REQ(x-none)%'), [])).to.deep.equal([]);
  });

  it('applies the least specific level last, unless the most specific wins', () => {
    const level = (value: string) =>
      compileHeaderManipulation({ requestHeadersToAdd: [{ header: { key: 'x-a', value }, append: false }] }, context);
    const levels = [level('route'), level('host')];
    const flat: string[] = [];
    applyHeaderOps(flat, orderLevels(levels, false).request, recordOf());
    expect(flat).to.deep.equal(['x-a', 'host']);
    applyHeaderOps(flat, orderLevels(levels, true).request, recordOf());
    expect(flat).to.deep.equal(['x-a', 'route']);
  });

  const refused: readonly (readonly [name: string, block: NonNullable<Block>])[] = [
    ['a pseudo header', { requestHeadersToRemove: [':path'] }],
    ['Host', { requestHeadersToAdd: [{ header: { key: 'Host', value: 'a' } }] }],
    ['framing', { responseHeadersToAdd: [{ header: { key: 'Content-Length', value: '0' } }] }],
    ['a name that is not a token', { requestHeadersToAdd: [{ header: { key: 'a b', value: 'c' } }] }],
    ['a line break in a value', { requestHeadersToAdd: [{ header: { key: 'a', value: 'b\r\nc: d' } }] }],
    ['an unknown operator', { requestHeadersToAdd: [{ header: { key: 'a', value: '%NOPE%' } }] }],
    [
      'an operator of responses in a request',
      { requestHeadersToAdd: [{ header: { key: 'a', value: '%RESPONSE_CODE%' } }] },
    ],
    ['an operator without its end', { requestHeadersToAdd: [{ header: { key: 'a', value: '50% of' } }] }],
    ['a missing secret', { requestHeadersToAdd: [{ headerSecretRef: { name: 's', namespace: 'n' } }] }],
  ];
  for (const [name, block] of refused) {
    it(`rejects ${name}`, () => {
      expect(() => compileHeaderManipulation(block, context))
        .to.throw()
        .with.property('code', 'ERR_ROUTING_OPTION');
    });
  }

  it('rejects a line break in a secret', () => {
    const data = { 'x-a': Buffer.from('a\nb').toString('base64') };
    const secrets = createContext({ secrets: { get: () => ({ type: 'Opaque', data }) } });
    const block = { requestHeadersToAdd: [{ headerSecretRef: { name: 's', namespace: 'n' } }] };
    expect(() => compileHeaderManipulation(block, secrets)).to.throw('contains a line break');
  });
});

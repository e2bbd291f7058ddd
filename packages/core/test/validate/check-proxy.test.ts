import { expect } from 'chai';
import { compressSpec } from '../../src/syntax/compressed-spec.ts';
import { checkProxy } from '../../src/validate/check-proxy.ts';

const problemsOf = (spec: Parameters<typeof checkProxy>[0]): string[] =>
  checkProxy(spec, ['spec']).map(({ path, message }) => `${path.join('.')}: ${message}`);

describe('the check of a Proxy', () => {
  it('accepts listeners, compressed or not', () => {
    expect(problemsOf({ listeners: [] })).to.deep.equal([]);
    expect(problemsOf({ compressedSpec: compressSpec({ listeners: [] }) })).to.deep.equal([]);
  });

  it('rejects a compressed spec that cannot be read', () => {
    expect(problemsOf({ compressedSpec: '???' })).to.deep.equal([
      'spec.compressedSpec: invalid compressedSpec: it is not base64',
    ]);
    expect(problemsOf({ compressedSpec: compressSpec({ a: 1 }) })).to.deep.equal([
      'spec.compressedSpec: invalid compressedSpec: it has no listeners',
    ]);
  });

  it('rejects both forms together', () => {
    expect(problemsOf({ listeners: [], compressedSpec: compressSpec({ listeners: [] }) })).to.deep.equal([
      'spec.compressedSpec: compressedSpec contains the listeners: it cannot be set together with listeners',
    ]);
  });
});

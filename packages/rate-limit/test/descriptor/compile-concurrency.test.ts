import { expect } from 'chai';
import { compileConcurrency } from '@edge-gateway/rate-limit';
import { describedRequest } from './described-request.ts';

const byUser = { requestHeaders: { headerName: 'x-user', descriptorKey: 'user' } };
const request = (user?: string) =>
  describedRequest({ clientAddress: '192.0.2.1', headers: user ? { 'x-user': user } : {} });

describe('compileConcurrency', () => {
  it('returns a key per descriptor, with its maximum', () => {
    const slotsOf = compileConcurrency(
      [
        { actions: [{ remoteAddress: {} }, byUser], maxInFlight: 2 },
        { setActions: [byUser, { remoteAddress: {} }], maxInFlight: 3 },
      ],
      'shop',
    );
    expect(slotsOf(request('ann'))).to.deep.equal([
      { key: 'shop|0|remote_address|192.0.2.1|user|ann', maxInFlight: 2 },
      { key: 'shop|1|set|remote_address|192.0.2.1|user|ann', maxInFlight: 3 },
    ]);
    expect(slotsOf(request()).map((each) => each.maxInFlight)).to.deep.equal([3]);
  });

  it('gives every scope, position and value its own key, without long values', () => {
    const list = [{ actions: [byUser], maxInFlight: 2 }];
    const keys = ['a', 'b'].flatMap((scope) =>
      ['ann', 'bob', 'x'.repeat(5000)].flatMap((user) =>
        compileConcurrency([...list, ...list], scope)(request(user)).map((each) => each.key),
      ),
    );
    expect(new Set(keys).size).to.equal(12);
    for (const key of keys) expect(key).to.have.length.below(60);
  });

  it('rejects invalid actions', () => {
    expect(() => compileConcurrency([{ actions: [{}], maxInFlight: 1 }], 'a')).to.throw('action without a type');
  });
});

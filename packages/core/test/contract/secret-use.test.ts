import { expect } from 'chai';
import { createContext, isStale, noteSecrets, type SecretValue } from '../../src/index.ts';

const REF = { name: 'a', namespace: 'n' };
const VALUE: SecretValue = { type: 'Opaque', data: {} };

describe('the secrets that a part of a configuration reads', () => {
  it('make it stale when one of them changes', () => {
    let value: SecretValue | undefined;
    const { context, used } = noteSecrets(createContext({ secrets: { get: () => value } }));
    expect(context.secrets.get(REF)).to.equal(undefined);
    const isNowStale = (): boolean => isStale({ used }, { get: () => value });
    expect(isNowStale()).to.equal(false);
    value = VALUE;
    expect(isNowStale()).to.equal(true);
  });

  it('cannot be read before they are received, and make it stale then, also if they do not exist', () => {
    let isPending = true;
    let first = 0;
    const secrets = {
      get: () => undefined,
      get isPending() {
        return isPending;
      },
    };
    const { context, used } = noteSecrets(createContext({ secrets }), () => first++);
    expect(() => context.secrets.get(REF))
      .to.throw('secret n/a has not been received yet')
      .with.property('code', 'ERR_CORE_SECRETS_PENDING');
    expect(first).to.equal(1);
    isPending = false;
    expect(isStale({ used }, secrets)).to.equal(true);
    expect(context.secrets.get(REF)).to.equal(undefined);
    expect(isStale({ used }, secrets)).to.equal(false);
  });

  it('can be read if they were received before others', () => {
    const { context } = noteSecrets(createContext({ secrets: { get: () => VALUE, isPending: true } }));
    expect(context.secrets.get(REF)).to.equal(VALUE);
  });
});

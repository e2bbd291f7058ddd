import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { sanitizedName, upstreamName } from '../../src/discovery/upstream-name.ts';

describe('names of discovered upstreams', () => {
  it('consist of namespace, Service and port', () => {
    expect(upstreamName({ name: 'petstore', namespace: 'default' }, 8080)).to.equal('default-petstore-8080');
  });

  it('have other characters replaced or removed, in lower case', () => {
    const cases = {
      'a*b/c.d:e_f g': 'a-b-c-d-e-f-g',
      '[a]"b"\'c\'\nd': 'abcd',
      'UPPER.Case': 'upper-case',
      '..': '--',
    };
    for (const [text, name] of Object.entries(cases)) expect(sanitizedName(text)).to.equal(name);
  });

  it('longer than 63 characters end with a digest of the whole name', () => {
    const exact = 'a'.repeat(63);
    expect(sanitizedName(exact)).to.equal(exact);
    const long = `${exact}b`;
    const digest = createHash('md5').update(long).digest('hex');
    expect(sanitizedName(long))
      .to.equal(`${'a'.repeat(31)}-${digest.slice(0, 31)}`)
      .and.have.length(63);
    const [one, other] = [1, 2].map((port) => upstreamName({ namespace: 'n'.repeat(63), name: 's'.repeat(63) }, port));
    expect(one).not.to.equal(other);
    expect(one).to.have.length(63);
  });
});

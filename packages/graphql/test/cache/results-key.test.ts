import { createContext, createLoggers, type Secrets } from '@edge-gateway/core';
import { expect } from 'chai';
import { createResultsKey } from '../../src/cache/results-key.ts';

describe('createResultsKey', () => {
  let lines: string[];
  const log = createLoggers({ level: 'warn', destination: { write: (line: string) => void lines.push(line) } });
  beforeEach(() => {
    lines = [];
  });

  const secretsOf = (text: string): Secrets => ({
    get: () => ({ type: 'Opaque', data: { 'signing-key': Buffer.from(text).toString('base64') } }),
  });
  const keyOf = (secrets: Secrets, given?: string) => createResultsKey(given, createContext({ secrets, log }))();

  it('counts the bytes of a key, not its characters', () => {
    const key = 'é'.repeat(16);
    expect(keyOf(secretsOf(''), key)).to.deep.equal(keyOf(secretsOf(''), key));
    expect(keyOf(secretsOf(key))).to.deep.equal(keyOf(secretsOf(key)));
    expect(lines).to.deep.equal([]);
  });

  it('uses a random key in place of a weak one, and logs why', () => {
    const key = 'x'.repeat(31);
    expect(() => keyOf(secretsOf(''), key)).to.throw('cacheKey has 31 bytes');
    expect(keyOf(secretsOf(key))).not.to.deep.equal(keyOf(secretsOf(key)));
    expect(lines).to.have.length(2);
    expect(JSON.parse(lines[0]!)).to.include({ resource: 'Secret gw-system.extauth-signing-key' });
    expect(lines[0]).to.include('signing-key has 31 bytes');
  });
});

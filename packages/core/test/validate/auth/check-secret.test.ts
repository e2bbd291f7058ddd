import { expect } from 'chai';
import { parseDocuments } from '../../../src/parse/parse.ts';
import { validateWritten } from '../../../src/validate/validate.ts';

describe('the shared signing key', () => {
  const warningsOf = (entry: string, name = 'extauth-signing-key', namespace = 'gw-system'): string[] => {
    const yaml = `apiVersion: v1\nkind: Secret\nmetadata: { name: ${name}, namespace: ${namespace} }\n${entry}\n`;
    const { resource, issues } = validateWritten(parseDocuments(yaml, 'a.yaml')[0]!);
    expect(resource, 'it is a warning').to.not.equal(undefined);
    return issues.map(({ severity, origin, message }) => `${severity} ${origin.line} ${message}`);
  };

  it('causes a warning if it can be guessed, and is never shown', () => {
    const [warning = '', ...others] = warningsOf('stringData: { signing-key: hunter2 }');
    expect(others).to.deep.equal([]);
    expect(warning).to.match(/^warning \d signing-key has 7 bytes: use at least 32 random bytes.*openssl rand/);
    expect(warning).to.not.contain('hunter2');
    expect(warningsOf(`data: { signing-key: ${Buffer.alloc(31).toString('base64')} }`)[0]).to.match(/^warning 4 /);
  });

  it('causes a warning if the previous key can be guessed', () => {
    const good = Buffer.alloc(32).toString('base64');
    const [warning = '', ...others] = warningsOf(
      `data: { signing-key: ${good}, previous-signing-key: ${good.slice(4)} }`,
    );
    expect(others).to.deep.equal([]);
    expect(warning).to.match(/^warning 4 previous-signing-key has 29 bytes/);
  });

  it('is valid with 32 bytes, and no signing key under another name', () => {
    expect(warningsOf(`data: { signing-key: ${Buffer.alloc(32).toString('base64')} }`)).to.deep.equal([]);
    expect(warningsOf('stringData: { signing-key: hunter2 }', 'other')).to.deep.equal([]);
    expect(warningsOf('stringData: { signing-key: hunter2 }', 'extauth-signing-key', 'shop')).to.deep.equal([]);
    expect(warningsOf('stringData: { other: x }')).to.deep.equal([]);
  });
});

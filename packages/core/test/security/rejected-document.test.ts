import { expect } from 'chai';
import type { Problem } from '../../src/resource/problem.ts';
import { redactRejected } from '../../src/security/rejected-document.ts';

const issue = (code: string, ...path: (string | number)[]): Problem => {
  return { code, severity: 'error', origin: { file: 'a.yaml', line: 1, column: 1 }, path, message: '' };
};

describe('redactRejected', () => {
  it('returns the document, without secret fields', () => {
    const document = { kind: 'AuthConfig', spec: { configs: [{ oauth2: { clientSecret: 'MARKER', appUrl: 'a' } }] } };
    const shown = { kind: 'AuthConfig', spec: { configs: [{ oauth2: { clientSecret: '<redacted>', appUrl: 'a' } }] } };
    expect(redactRejected(document, [issue('BAD_ENUM', 'spec', 'configs')])).to.deep.equal(shown);
  });

  it('hides values of unknown fields, which may be misspelt secrets', () => {
    const document = { kind: 'Upstream', spec: { list: [{ pasword: { any: 'MARKER' }, port: 1 }] }, other: 'MARKER' };
    const issues = [
      issue('UNKNOWN_KEY', 'spec', 'list', 0, 'pasword'),
      issue('MISPLACED_KEY', 'other'),
      issue('WRONG_TYPE', 'not', 'there'),
    ];
    expect(redactRejected(document, issues)).to.deep.equal({
      kind: 'Upstream',
      spec: { list: [{ pasword: { any: '<redacted>' }, port: 1 }] },
      other: '<redacted>',
    });
  });

  it('hides whole values that are no objects, and values below unknown fields', () => {
    const list = { kind: 'Upstream', spec: { a: ['MARKER', { b: 'MARKER' }], c: 1 } };
    const issues = [issue('UNKNOWN_KEY', 'spec', 'a', 1, 'b'), issue('WRONG_TYPE', 'spec', 'a')];
    expect(redactRejected(list, issues)).to.deep.equal({
      kind: 'Upstream',
      spec: { a: ['<redacted>', { b: '<redacted>' }], c: 1 },
    });
    expect(redactRejected({ any: 'MARKER' }, [issue('WRONG_TYPE')])).to.deep.equal({ any: '<redacted>' });
  });

  it('hides all values if not all problems are known', () => {
    const keys = Array.from({ length: 60_000 }, (_, i) => `k${i}`);
    const spec = Object.fromEntries(keys.map((key) => [key, 'MARKER']));
    const issues = keys.slice(0, 1000).map((key) => issue('UNKNOWN_KEY', 'spec', key));
    const shown = redactRejected({ kind: 'Upstream', metadata: { name: 'a' }, spec }, issues);
    expect(shown).to.deep.include({ kind: 'Upstream', metadata: { name: 'a' } });
    expect(JSON.stringify(shown)).not.to.contain('MARKER');
  });

  it('shows only type, name and keys of a Secret', () => {
    const document = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'a', annotations: { copy: 'MARKER' } },
      type: 'Opaque',
      stringDta: { key: 'MARKER' },
    };
    expect(redactRejected(document, [])).to.deep.equal({
      ...document,
      metadata: { name: 'a' },
      stringDta: { key: '<redacted>' },
    });
  });

  it('hides the type of a Secret if it is not text', () => {
    const document = { apiVersion: 'v1', kind: 'Secret', type: ['MARKER'] };
    expect(redactRejected(document, [issue('WRONG_TYPE', 'type')])).to.deep.equal({
      ...document,
      type: ['<redacted>'],
    });
  });

  it('omits a copy of the resource in an annotation', () => {
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': 'MARKER', note: 'a' };
    const shown = redactRejected({ kind: 'Upstream', metadata: { name: 'a', annotations } }, []);
    expect(shown).to.deep.equal({ kind: 'Upstream', metadata: { name: 'a', annotations: { note: 'a' } } });
  });

  it('returns nothing for a value that is not an object', () => {
    expect(redactRejected('text', [])).to.equal(undefined);
  });
});

import { expect } from 'chai';
import { writtenStatusDigest } from '../../src/status/status-report.ts';

const object = (status: unknown) => ({ metadata: { name: 'a' }, status });
const digest = (status: unknown) => writtenStatusDigest('Upstream', object(status), 'own');
const report = (state: unknown, more: object = {}) => ({ state, reportedBy: 'gw', ...more });

describe('the digest of a written status', () => {
  it('is that of the own report, whatever others report', () => {
    const own = report('Accepted');
    const alone = digest({ statuses: { own } });
    expect(alone).to.be.a('string');
    expect(digest({ statuses: { other: report('Rejected'), own } })).to.equal(alone);
    expect(digest({ statuses: { own: report('Rejected') } })).not.to.equal(alone);
  });

  it('is none without an own report', () => {
    for (const status of [undefined, null, 'text', {}, { statuses: { other: report('Accepted') } }])
      expect(digest(status)).to.equal(undefined);
    expect(writtenStatusDigest('Upstream', object({ statuses: {} }), 'constructor')).to.equal(undefined);
  });

  it('is the same for states that were written as numbers', () => {
    const named = { p: report('Warning') };
    const numbered = { p: report(3) };
    expect(digest({ statuses: { own: report(1, { subresourceStatuses: numbered }) } })).to.equal(
      digest({ statuses: { own: report('Accepted', { subresourceStatuses: named }) } }),
    );
  });
});

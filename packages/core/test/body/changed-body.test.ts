import type { IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { describesBytes, headersOfChangedBody, removeDescriptions } from '../../src/body/changed-body.ts';
import { factsOf } from '../../src/contract/facts.ts';

const DESCRIBING = ['content-md5', 'digest', 'content-digest', 'repr-digest', 'accept-ranges', 'content-range'];

describe('the headers of a changed body', () => {
  it('lose what describes its bytes', () => {
    const headers = DESCRIBING.flatMap((name) => [name.toUpperCase(), '1']);
    expect(headersOfChangedBody([...headers, 'x-kept', '1'], headers)).to.deep.equal(['x-kept', '1']);
  });

  it('lose a strong etag, and keep a weak one', () => {
    expect(describesBytes('etag', '"a"')).to.equal(true);
    expect(describesBytes('etag', 'W/"a"')).to.equal(false);
  });

  it('keep what was set with the change', () => {
    const kept = headersOfChangedBody(['etag', '"new"', 'digest', 'new'], ['etag', '"old"', 'Digest', 'old']);
    expect(kept).to.deep.equal(['etag', '"new"', 'digest', 'new']);
  });

  it('are removed from a request before the changes of handlers', () => {
    const req = {
      rawHeaders: ['Digest', 'old', 'x-kept', '1'],
      headers: { digest: 'old' },
    } as never as IncomingMessage;
    factsOf(req).requestChanges.push({ op: 'set', name: 'content-digest', value: 'new' });
    removeDescriptions(req);
    expect(factsOf(req).requestChanges).to.deep.equal([
      { op: 'remove', name: 'digest' },
      { op: 'set', name: 'content-digest', value: 'new' },
    ]);
  });
});

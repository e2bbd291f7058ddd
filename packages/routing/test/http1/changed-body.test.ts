import { expect } from 'chai';
import { changesOfBody } from '../../src/http1/changed-body.ts';

const removedFrom = (headers: readonly string[]): readonly string[] => changesOfBody(headers).map(({ name }) => name);

describe('the headers of a changed body', () => {
  it('lose what describes its bytes', () => {
    expect(removedFrom([])).to.have.members([
      'content-md5',
      'digest',
      'content-digest',
      'repr-digest',
      'accept-ranges',
      'content-range',
    ]);
  });

  it('lose a strong etag, and keep a weak one', () => {
    expect(removedFrom(['etag', '"a"'])).to.include('etag');
    expect(removedFrom(['etag', 'W/"a"'])).not.to.include('etag');
  });
});

import { expect } from 'chai';
import { KnownFiles } from '../../src/source/known-files.ts';

describe('known files', () => {
  it('know the folders that contain them, at any depth, as long as one is left', () => {
    const known = new KnownFiles();
    known.set('/r/a/b/1.yaml', 'x');
    known.set('/r/a/b/2.yaml', 'x');
    known.set('/r/a/3.yaml', 'x');
    known.set('/r/a/3.yaml', 'y');
    expect(known.get('/r/a/3.yaml')).to.equal('y');
    for (const folder of ['/', '/r', '/r/a', '/r/a/b']) expect(known.isFolder(folder), folder).to.equal(true);
    for (const other of ['/r/a/b/1.yaml', '/r/a/', '/r/b', '/r/a/b/1', ''])
      expect(known.isFolder(other)).to.equal(false);
    known.delete('/r/a/b/1.yaml');
    known.delete('/r/a/b/1.yaml');
    expect(known.isFolder('/r/a/b')).to.equal(true);
    known.delete('/r/a/b/2.yaml');
    expect([known.isFolder('/r/a/b'), known.isFolder('/r/a')]).to.deep.equal([false, true]);
    known.delete('/r/a/3.yaml');
    expect([known.isFolder('/r/a'), known.isFolder('/r')]).to.deep.equal([false, false]);
  });

  it('are replaced together', () => {
    const known = new KnownFiles();
    known.set('a/1.yaml', 'x');
    known.replace(new Map([['b/2.yaml', 'y']]));
    expect([...known.stamps]).to.deep.equal([['b/2.yaml', 'y']]);
    expect(known.has('a/1.yaml')).to.equal(false);
    expect(['a', 'b', '.'].filter((folder) => known.isFolder(folder))).to.deep.equal(['b', '.']);
  });
});

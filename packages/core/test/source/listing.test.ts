import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { listDirectory } from '../../src/source/listing.ts';

describe('the listing of a directory', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'listing-'));
  });
  afterEach(() => rmSync(root, { recursive: true }));

  it('leaves out a link that leads to too many folders', async () => {
    const served = join(root, 'served');
    mkdirSync(served);
    writeFileSync(join(served, 'a.yaml'), '');
    // Each level doubles the number of paths.
    for (let i = 0; i <= 8; i++) mkdirSync(join(root, `d${i}`));
    for (let i = 0; i < 8; i++) {
      for (const name of ['x', 'y']) symlinkSync(join(root, `d${i + 1}`), join(root, `d${i}`, name));
    }
    writeFileSync(join(root, 'd0', 'b.yaml'), '');
    symlinkSync(join(root, 'd0'), join(served, 'wide'));
    symlinkSync(join(root, 'd5'), join(served, 'narrow'));
    writeFileSync(join(root, 'd8', 'c.yaml'), '');

    const { stamps, problems, linked } = await listDirectory(served, { maxLinkedFolders: 100 });

    expect([...problems]).to.deep.equal([
      [join(served, 'wide'), { code: 'UNREADABLE', offset: 0, message: 'the link leads to more than 100 folders' }],
    ]);
    const files = [...stamps.keys()];
    expect(files).to.have.length(9);
    expect(files).to.include.members([join(served, 'a.yaml'), join(served, 'narrow/x/y/x/c.yaml')]);
    expect([...linked.values()].flat().filter((path) => path.startsWith(join(served, 'wide/')))).to.deep.equal([]);
  });
});

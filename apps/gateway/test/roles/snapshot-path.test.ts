import { homedir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { snapshotPath } from '../../src/roles/snapshot-path.ts';

describe('the path of the snapshot file', () => {
  it('is that of the flag, or below the state directory', () => {
    expect(snapshotPath('none', 'p', {})).to.equal(undefined);
    expect(snapshotPath('/a/b', 'p', {})).to.equal('/a/b');
    expect(snapshotPath(undefined, 'p', { STATE_DIRECTORY: '/var/lib/gw:/other' })).to.equal('/var/lib/gw/p.snapshot');
    expect(snapshotPath(undefined, 'p', { XDG_STATE_HOME: '/state' })).to.equal('/state/edge-gateway/p.snapshot');
    const home = join(homedir(), '.local', 'state', 'edge-gateway');
    expect(snapshotPath(undefined, '../a b', {})).to.equal(join(home, '.._a_b.snapshot'));
  });
});

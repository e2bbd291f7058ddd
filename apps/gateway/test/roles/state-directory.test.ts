import { homedir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { acceptedPath, snapshotPath, stateDirectory } from '../../src/roles/state-directory.ts';

describe('the state directory', () => {
  it('is that of the flag, of systemd, or of the user', () => {
    expect(stateDirectory('none', {})).to.equal(undefined);
    expect(stateDirectory('/a', { STATE_DIRECTORY: '/b' })).to.equal('/a');
    expect(stateDirectory(undefined, { STATE_DIRECTORY: '/var/lib/gw:/other' })).to.equal('/var/lib/gw');
    expect(stateDirectory(undefined, { XDG_STATE_HOME: '/state' })).to.equal('/state/edge-gateway');
    expect(stateDirectory(undefined, {})).to.equal(join(homedir(), '.local', 'state', 'edge-gateway'));
  });

  it('contains the snapshot file of a proxy, unless a flag names another', () => {
    expect(snapshotPath('none', 'p', '/state')).to.equal(undefined);
    expect(snapshotPath('/a/b', 'p', undefined)).to.equal('/a/b');
    expect(snapshotPath(undefined, 'p', undefined)).to.equal(undefined);
    expect(snapshotPath(undefined, '../a b', '/state')).to.equal('/state/.._a_b.snapshot');
  });

  it('contains one file of accepted resources for each source', () => {
    const path = acceptedPath('/state', '/resources');
    expect(path).to.match(/^\/state\/resources-[\da-f]{12}\.accepted$/);
    expect(acceptedPath('/state', '/other')).to.not.equal(path);
  });
});

import { expect } from 'chai';
import { CLIENT_VERSION } from '../../src/commands/version.ts';
import { call } from '../support/captured-io.ts';

/** A kubeconfig that does not exist: the next step would be to read it. */
const CLUSTER = ['--kubeconfig', '/missing'];

describe('check-crds', () => {
  it('has a flag --version of its own', async () => {
    for (const flag of [['--version', '99.1.0'], ['--version=99.1.0']]) {
      const { code, stdout, stderr } = await call(['check-crds', ...flag, ...CLUSTER]);
      expect({ code, stdout }).to.deep.equal({ code: 2, stdout: '' });
      expect(stderr).to.contain(`this gatewayctl has the CRDs of version ${CLIENT_VERSION}, not of 99.1.0`);
    }
    for (const own of [CLIENT_VERSION, `v${CLIENT_VERSION}`]) {
      const { code, stderr } = await call(['check-crds', '--version', own, ...CLUSTER]);
      expect(code).to.equal(1);
      expect(stderr).to.contain('unusable kubeconfig');
    }
  });

  it('requires a value of it, and no chart besides', async () => {
    const missing = await call(['check-crds', '--version']);
    expect(missing).to.include({ code: 2 });
    expect(missing.stderr).to.contain("'--version <version>' argument missing");
    const both = await call(['check-crds', '--version', CLIENT_VERSION, '--local-chart', 'chart']);
    expect(both).to.include({ code: 2 });
    expect(both.stderr).to.contain('cannot be used with');
  });

  it('leaves the flag of the program as it is', async () => {
    for (const argv of [['--version'], ['-V'], ['check', '--version'], ['-V', 'check-crds']])
      expect(await call(argv), argv.join(' ')).to.include({ code: 0, stdout: `${CLIENT_VERSION}\n` });
  });
});

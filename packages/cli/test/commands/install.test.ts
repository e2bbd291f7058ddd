import { expect } from 'chai';
import { call } from '../support/captured-io.ts';

describe('install', () => {
  for (const name of ['--x', '-x', '', 'Upper', 'a/b', 'a'.repeat(54)]) {
    for (const verb of ['install', 'uninstall']) {
      it(`does not ${verb} a release named ${JSON.stringify(name.slice(0, 10))}`, async () => {
        const { code, stderr } = await call([verb, 'gateway', `--release-name=${name}`]);
        expect(code).to.not.equal(0);
        expect(stderr).to.contain(`invalid --release-name '${name}': use at most 53 lower-case letters`);
      });
    }
  }
});

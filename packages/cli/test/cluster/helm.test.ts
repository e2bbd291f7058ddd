import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { chartOf, helm } from '../../src/cluster/helm.ts';
import type { Io } from '../../src/io.ts';

describe('helm', () => {
  let directory: string;
  let io: Io;

  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'helm-'));
    io = { stdout: process.stdout, stderr: process.stderr, isTTY: false, cwd: directory, env: { PATH: directory } };
  });
  after(() => rmSync(directory, { recursive: true }));

  const program = (script: string): void => {
    writeFileSync(join(directory, 'helm'), `#!/bin/sh\n${script}\n`);
    chmodSync(join(directory, 'helm'), 0o755);
  };
  const failureOf = (work: Promise<unknown>): Promise<Error & { code?: string }> =>
    work.then(
      () => expect.fail('no error'),
      (error: Error) => error,
    );

  it('names the remedy if there is no helm', async () => {
    const error = await failureOf(helm({ ...io, env: { PATH: join(directory, 'nowhere') } }, {}, ['list']));
    expect(error.code).to.equal('ERR_CLI_HELM');
    expect(error.message).to.contain('it is not on the PATH; install Helm 3');
  });

  it('passes the cluster of the flags, and returns what helm prints', async () => {
    program('echo "$@"');
    expect(await helm(io, { kubeconfig: 'config', kubeContext: 'dev' }, ['list'])).to.equal(
      `list --kubeconfig ${join(directory, 'config')} --kube-context dev\n`,
    );
  });

  it('reports the messages of helm', async () => {
    program('echo "walk.go:75: found symbolic link" >&2; echo "Error: release: not found" >&2; exit 1');
    const error = await failureOf(helm(io, {}, ['uninstall', 'gw']));
    expect(error.message).to.equal('helm uninstall: release: not found');
  });

  it('finds the chart of this version', () => {
    expect(chartOf(io, undefined)).to.match(/deploy.helm.edge-gateway$/);
    expect(chartOf(io, 'own')).to.equal(join(directory, 'own'));
  });
});

import { expect } from 'chai';
import { versionWarning } from '../../src/gateway/version-warning.ts';
import { answer, at, recordedAnswers } from '../support/answering-server.ts';
import { call } from '../support/captured-io.ts';

describe('versionWarning', () => {
  it('warns if a minor version differs, framed by dashes', () => {
    const line = '-'.repeat(72);
    expect(versionWarning('1.2.3', '1.3.0')).to.equal(
      `${line}\ngatewayctl is 1.2.3, the gateway is 1.3.0; use the gatewayctl of the gateway's version:\n  npx @edge-gateway/cli@1.3.0\n${line}`,
    );
    expect(versionWarning('2.2.3', '1.2.3')).to.be.a('string');
    expect(versionWarning('1.2.3', '1.2.9')).to.equal(undefined);
  });

  it('ignores versions that are not releases', () => {
    for (const version of ['0.0.0', '1.2.3-dev', 'undefined', '']) {
      expect(versionWarning(version, '9.9.9')).to.equal(undefined);
      expect(versionWarning('9.9.9', version)).to.equal(undefined);
    }
  });

  it('is printed on standard error before a command that connects to a gateway', async () => {
    const server = await answer({ ...recordedAnswers(), '/version': { version: '7.3.1' } });
    const warning = /^-+\ngatewayctl is 7\.2\.0, the gateway is 7\.3\.1; .*\n.*\n-+\n/;
    const listed = await call(['get', 'vs', '-o', 'json', ...at(server)], { version: '7.2.0' });
    expect(listed.stderr).to.match(warning);
    expect(JSON.parse(listed.stdout)).to.be.an('array');
    expect((await call(['version', ...at(server)], { version: '7.2.0' })).stderr).to.match(warning);
    for (const [argv, version] of [
      [['get', 'vs'], '7.3.0'],
      [['get', 'vs'], '0.0.0'],
      [['completion', 'bash'], '7.2.0'],
    ] as const)
      expect((await call([...argv, ...at(server)], { version })).stderr).to.equal('');
    await server.close();
  });

  it('does not hide that no gateway responds, nor ask one for a directory', async () => {
    const nowhere = ['--server', 'http://127.0.0.1:1', '--proxy-admin', 'http://127.0.0.1:1'];
    expect((await call(['get', 'vs', ...nowhere], { version: '7.2.0' })).stderr).to.match(/^Error: no gateway at /);
    const demo = new URL('../../../../apps/gateway/demo', import.meta.url).pathname;
    const fetch = () => Promise.reject(new Error('the network is used'));
    expect((await call(['get', 'vs', '-c', demo], { version: '7.2.0', fetch })).code).to.equal(0);
  });
});

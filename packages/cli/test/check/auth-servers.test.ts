import { createServer, type AddressInfo } from 'node:net';
import { expect } from 'chai';
import { authServerProblems, authServersOf } from '../../src/check/auth-servers.ts';

const authConfig = (name: string, ...configs: object[]) => ({
  apiVersion: 'enterprise.gw.vendor.io/v1',
  kind: 'AuthConfig',
  metadata: { name, namespace: 'gw-system' },
  spec: { configs },
});

describe('servers of AuthConfigs', () => {
  it('are listed once with all of their users', () => {
    const opa = { opaServerAuth: { serverAddr: 'opa:8181' } };
    const objects = [authConfig('a', opa, opa), authConfig('b', opa, { basicAuth: {} })];
    expect(authServersOf(objects)).to.deep.equal([
      { role: 'OPA server', address: 'opa:8181', users: ['gw-system/a', 'gw-system/b'] },
    ]);
  });

  it('are reported if they accept connections and stay silent', async () => {
    const silent = createServer();
    await new Promise<void>((resolve) => void silent.listen(0, '127.0.0.1', resolve));
    const document = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/keys`;
    const [line] = await authServerProblems([{ role: 'key set', address: document, users: ['a/b'], document }], 50);
    silent.close();
    expect(line).to.match(
      /^AuthConfig a\/b: the key set \S+ does not respond to this machine at \S+: timeout after 0\.05 s$/,
    );
  });
});

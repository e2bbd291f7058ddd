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

  for (const protocol of ['http', 'grpc', 'ldap', 'redis'] as const)
    it(`are reported if they accept connections and stay silent, without a document: ${protocol}`, async () => {
      const silent = createServer();
      await new Promise<void>((resolve) => void silent.listen(0, '127.0.0.1', resolve));
      const address = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
      const lines = [address, `${protocol === 'redis' ? 'rediss' : 'https'}://${address}`].map(async (address) =>
        authServerProblems([{ role: 'auth server', address, users: ['a/b'], protocol }], 50),
      );
      const reported = (await Promise.all(lines)).flat();
      silent.close();
      expect(reported).to.have.lengthOf(2);
      for (const line of reported) expect(line).to.match(/: timeout after 0\.05 s$/);
    });

  for (const response of ['HTTP/1.1 404 Not Found\r\n\r\n', ''])
    it(`are not reported if they respond: ${JSON.stringify(response)}`, async () => {
      const server = createServer((socket) => socket.end(response));
      await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
      const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
      const servers = [address, `https://${address}`].map((address) => ({ role: 'a', address, users: ['a/b'] }));
      expect(await authServerProblems(servers)).to.deep.equal([]);
      server.close();
    });

  it('are reported if they accept no connection', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const servers = ['http', 'https'].map((scheme) => ({
      role: 'a',
      address: `${scheme}://127.0.0.1:${port}`,
      users: [],
    }));
    const lines = await authServerProblems(servers);
    expect(lines).to.have.lengthOf(2);
    for (const line of lines) expect(line).to.match(/: connection refused$/);
  });
});

import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { startUsersGrpc } from '@edge-gateway/demo';
import { expect } from 'chai';
import { GatewayProcess } from './gateway-process.ts';

const DEMO = readFileSync(new URL('../demo/grpc.yaml', import.meta.url), 'utf8');

/** Calls `GetUser` at a host of its own, which fetch cannot name. */
function getUser(url: string, username: string): Promise<{ status: number; body: unknown }> {
  return new Promise((resolve, reject) => {
    const headers = { host: 'grpc.localhost', 'content-type': 'application/json' };
    const req = request(`${url}/user.UserService/GetUser`, { method: 'POST', headers }, async (res) =>
      resolve({ status: res.statusCode!, body: JSON.parse(await text(res)) }),
    );
    req.on('error', reject);
    req.end(JSON.stringify({ username }));
  });
}

describe('the JSON of the gRPC demo', () => {
  const gateway = new GatewayProcess();
  let backend: Awaited<ReturnType<typeof startUsersGrpc>>;

  before(async () => {
    backend = await startUsersGrpc();
    expect(DEMO).to.contain('port: 18086');
    gateway.write('grpc.yaml', DEMO.replace('port: 18086', `port: ${backend.port}`));
    await gateway.start();
  });
  after(async () => {
    await gateway.close();
    await backend.close();
  });

  it('returns a user', async () => {
    expect(await getUser(gateway.url, 'frodo')).to.deep.equal({
      status: 200,
      body: { username: 'frodo', fullName: 'Frodo Baggins', userId: 2 },
    });
  });

  it('returns the status of a failed call', async () => {
    expect(await getUser(gateway.url, 'nobody')).to.deep.equal({
      status: 404,
      body: { code: 5, message: 'no such user' },
    });
  });
});

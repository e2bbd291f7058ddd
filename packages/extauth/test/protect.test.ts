import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { protect } from '@edge-gateway/core';
import { greeter, openSocket, type Opened } from '../../../test/parts/web-socket.ts';
import { extauth } from '../src/index.ts';
import { basic, only } from './harness.ts';

const ALICE = { salt: 'TYiryv0/', hashedPassword: '8BvzLUO9IfGPGGsPnAgSu1' };

describe('WebSockets with external auth', () => {
  for (const onRefusal of ['respond', 'next'] as const) {
    describe(`with onRefusal: ${onRefusal}`, () => {
      let server: Server;
      let destination: ReturnType<typeof greeter>;
      beforeEach(async () => {
        destination = greeter();
        const config = only({ basicAuth: { realm: 'staff', apr: { users: { alice: ALICE } } } });
        const chain = protect(extauth({ config, onRefusal }), destination);
        server = createServer().on('upgrade', chain.upgrade);
        await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      });
      afterEach(() => new Promise((resolve) => (server.closeAllConnections(), server.close(resolve))));

      const open = (authorization?: string): Promise<Opened> =>
        openSocket(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, {
          'x-user-id': 'root',
          ...(authorization && { authorization }),
        });

      it('rejects one without a password', async () => {
        const refused = await open();
        expect(refused.status).to.equal(401);
        expect('headers' in refused && refused.headers['www-authenticate']).to.equal('Basic realm="staff"');
        expect(destination.count()).to.equal(0);
      });

      it('rejects a wrong password', async () => {
        expect((await open(basic('alice', 'wrong'))).status).to.equal(401);
        expect((await open(basic('nobody', 'password'))).status).to.equal(401);
        expect(destination.count()).to.equal(0);
      });

      it('allows the correct one, and sends the user to the destination', async () => {
        const opened = await open(basic('alice', 'password'));
        expect(opened.status).to.equal(101);
        const { greeting } = opened as Extract<Opened, { status: 101 }>;
        expect(greeting.headers).to.include({ 'x-user-id': 'alice' });
        expect(greeting.identity).to.deep.equal({ provider: 'config_0', subject: 'alice', claims: {}, groups: [] });
      });
    });
  }
});

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { protect } from '@edge-gateway/core';
import { greeter, openSocket, type Opened } from '../../../test/parts/web-socket.ts';
import { jwt, rbac } from '../src/index.ts';
import { createIssuer, ISSUER, testContext, type Issuer } from './issuer.ts';

describe('WebSockets with jwt and rbac', () => {
  let issuer: Issuer;
  let stranger: Issuer;
  let server: Server;
  let destination: ReturnType<typeof greeter>;
  before(async () => {
    [issuer, stranger] = await Promise.all([createIssuer(), createIssuer()]);
  });
  afterEach(() => new Promise((resolve) => (server.closeAllConnections(), server.close(resolve))));

  for (const onRefusal of ['respond', 'next'] as const) {
    describe(`with onRefusal: ${onRefusal}`, () => {
      beforeEach(async () => {
        destination = greeter();
        const context = testContext();
        const claimsToHeaders = [{ claim: 'email', header: 'x-email' }];
        const jwks = { local: { key: issuer.keySet } };
        const chain = protect(
          jwt({ providers: { main: { issuer: ISSUER, jwks, claimsToHeaders } }, onRefusal }, context),
          rbac(
            {
              policies: {
                admins: {
                  principals: [{ jwtPrincipal: { claims: { email: 'admin@example.com' } } }],
                  permissions: { pathPrefix: '/chat' },
                },
              },
              onRefusal,
            },
            context,
          ),
          destination,
        );
        server = createServer((req, res) => chain(req, res, () => res.end()));
        server.on('upgrade', chain.upgrade);
        await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      });

      const open = (token?: string, path = '/chat'): Promise<Opened> => {
        const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
        return openSocket(url, { 'x-email': 'forged', ...(token && { authorization: `Bearer ${token}` }) });
      };

      it('rejects one without a token', async () => {
        const refused = await open();
        expect(refused).to.include({ status: 401, body: 'Jwt is missing' });
        expect('headers' in refused && refused.headers['www-authenticate']).to.match(/^Bearer realm=/);
        expect(destination.count()).to.equal(0);
      });

      it('rejects bad tokens', async () => {
        const good = await issuer.sign({ email: 'admin@example.com' });
        for (const token of ['x', `${good}x`, await stranger.sign({ email: 'admin@example.com' })]) {
          expect((await open(token)).status, token).to.equal(401);
        }
        expect((await open(await issuer.sign({ exp: 1 }))).status).to.equal(401);
        expect(destination.count()).to.equal(0);
      });

      it('rejects one whom no policy names, and another path', async () => {
        const refused = { status: 403, body: 'RBAC: access denied' };
        expect(await open(await issuer.sign({ email: 'user@example.com' }))).to.include(refused);
        expect(await open(await issuer.sign({ email: 'admin@example.com' }), '/admin')).to.include(refused);
        expect(destination.count()).to.equal(0);
      });

      it('allows a valid token, and sends its claims to the destination', async () => {
        const opened = await open(await issuer.sign({ email: 'admin@example.com', groups: ['staff'] }));
        expect(opened.status).to.equal(101);
        const { greeting } = opened as Extract<Opened, { status: 101 }>;
        expect(greeting.headers).to.include({ 'x-email': 'admin@example.com' }).and.not.have.property('authorization');
        expect(greeting.identity).to.deep.include({ provider: 'main', subject: 'me', groups: ['staff'] });
      });
    });
  }
});

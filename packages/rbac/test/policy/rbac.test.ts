import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { Writable } from 'node:stream';
import { expect } from 'chai';
import { createLoggers, factsOf } from '@edge-gateway/core';
import type { Rbac } from '@edge-gateway/core/schema';
import { jwt, rbac, rbacConcern } from '../../src/index.ts';
import { createIssuer, ISSUER, serve, testContext, type Issuer } from '../issuer.ts';

const POLICIES: Rbac = {
  policies: {
    admins: {
      principals: [{ jwtPrincipal: { claims: { email: 'admin@example.com' } } }],
      permissions: { methods: ['GET'], pathPrefix: '/api' },
    },
  },
};

describe('rbac', () => {
  let issuer: Issuer;
  before(async () => {
    issuer = await createIssuer();
  });

  async function ask(block: Rbac, { email = 'admin@example.com', path = '/api/x', method = 'GET', log = '' } = {}) {
    let lines = log;
    const loggers = createLoggers({
      destination: new Writable({ write: (chunk, _encoding, done) => ((lines += chunk), done()) }),
    });
    const context = testContext({ log: loggers });
    const server = await serve(
      jwt({ providers: { main: { issuer: ISSUER, jwks: { local: { key: issuer.keySet } } } } }, context),
      rbac(block, context),
    );
    try {
      return {
        ...(await server.ask(path, { authorization: `Bearer ${await issuer.sign({ email })}` }, method)),
        lines,
      };
    } finally {
      await server.close();
    }
  }

  it('checks the method that the upstream receives, not that of the client', () => {
    const req = Object.assign(new IncomingMessage(new Socket()), { method: 'GET', url: '/api/x' });
    const facts = factsOf(req);
    facts.claims.set('main', { email: 'admin@example.com' });
    facts.method = 'DELETE';
    let refused: unknown;
    rbacConcern.compile(POLICIES, testContext())!(req, new ServerResponse(req), (error) => (refused = error));
    expect(refused).to.include({ code: 'ERR_RBAC_DENIED' });
  });

  it('uses the block of the most specific level', () => {
    const [host, route, destination] = [{ disable: true }, { policies: {} }, { policies: { all: {} } }] as Rbac[];
    const levels = [{ rbac: host }, { rbac: route }, {}];
    expect(rbacConcern.pick!(levels)).to.equal(route);
    expect(rbacConcern.pick!([...levels, { rbac: destination }])).to.equal(destination);
    expect(rbacConcern.pick!([{ rbac: host }, {}])).to.equal(host);
  });

  it('allows whom a policy names', async () => {
    expect((await ask(POLICIES)).status).to.equal(200);
  });

  for (const [what, asked] of [
    ['someone else', { email: 'user@example.com' }],
    ['another method', { method: 'POST' }],
    ['another path', { path: '/owners' }],
  ] as const) {
    it(`returns 403 with 19 bytes: ${what}`, async () => {
      const answer = await ask(POLICIES, asked);
      expect(answer).to.include({ status: 403, body: 'RBAC: access denied', authenticate: null });
      expect(answer.body).to.have.length(19);
    });
  }

  it('logs which policy came closest, without a hint to the client', async () => {
    const { body, lines } = await ask(POLICIES, { email: 'user@example.com' });
    expect(body).to.not.include('admins');
    expect(lines).to.include('"policy":"admins"').and.to.include('the claim email does not have the required value');
    expect(lines).to.not.include('user@example.com');
  });

  it('denies every request without policies, and none if disabled', async () => {
    expect((await ask({})).status).to.equal(403);
    expect((await ask({ policies: {} })).status).to.equal(403);
    expect((await ask({ disable: true })).status).to.equal(200);
  });
});

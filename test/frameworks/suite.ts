import { createServer, request, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { acceptUpgrades, identityOf, protect, type ProtectedHandler } from '@edge-gateway/core';
import { graphqlApi } from '@edge-gateway/graphql';
import { rateLimit } from '@edge-gateway/rate-limit';
import { jwt, rbac } from '@edge-gateway/rbac';
import { forwardTo } from '@edge-gateway/routing';
import { createIssuer, ISSUER, testContext, type Issuer } from '../../packages/rbac/test/issuer.ts';
import { greeter, openSocket } from '../parts/web-socket.ts';

/** What an application mounts. */
export interface Parts {
  /** JWT and RBAC, which answer refusals themselves: at `/api`, where `GET /api/pets` gives `whoIs`. */
  readonly guard: ProtectedHandler;
  /** The same with refusals for the framework's error handler, which gives `handled`: at `/errors`, as `/api`. */
  readonly passing: ProtectedHandler;
  /** Forwards: at `/forward`, behind the body parser of the framework. */
  readonly forward: ProtectedHandler;
  /** A GraphQL API behind JWT and RBAC: at `/graphql`. */
  readonly graphql: ProtectedHandler;
  /** A rate limit of two requests in front of `served`: at `/limited`. */
  readonly limited: ProtectedHandler;
}

/** An application that runs. */
export interface Application {
  readonly server: Server;
  close(): Promise<unknown>;
}

/** Makes an application and has it listen on a free port of 127.0.0.1. */
export type StartApplication = (parts: Parts) => Promise<Application>;

/** What a handler of the application tells of a request. */
export function whoIs(req: IncomingMessage, email: string | string[] | undefined): object {
  const identity = identityOf(req);
  return { subject: identity?.subject, groups: identity?.groups, provider: identity?.provider, email };
}

/** What the application's own error handler gives for an error. */
export function handled(error: unknown): object {
  return { handled: (error as { code?: string }).code };
}

const ADMIN = { email: 'admin@example.com', groups: ['staff'] };
const POLICIES = { admins: { principals: [{ jwtPrincipal: { claims: { email: ADMIN.email } } }] } };

const SPELLINGS = [
  '/API/pets',
  '//api/pets',
  '/api//pets',
  '/%61pi/pets',
  '/api%2fpets',
  '/x/../api/pets',
  '/./api/pets',
  '/api/pets/',
  '/api;x/pets',
  '/api/pets?x=/open',
  'http://other.example.com/api/pets',
];

/** Tests an application of a framework. */
export function testFramework(name: string, start: StartApplication): void {
  describe(name, () => {
    let issuer: Issuer;
    let upstream: Server;
    let application: Application;
    let parts: Parts;
    let url: string;
    const sockets = greeter();

    before(async () => {
      issuer = await createIssuer();
      upstream = createServer((req, res) => {
        let body = '';
        req.on('data', (chunk) => (body += chunk));
        req.on('end', () => {
          res.setHeader('content-type', 'application/json');
          const { method, url, headers } = req;
          if (url === '/pets/1') return void res.end('{"name":"Rex"}');
          return void res.end(JSON.stringify({ method, url, type: headers['content-type'], body }));
        });
      });
      await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
      const target = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
      const context = testContext();
      const claimsToHeaders = [{ claim: 'email', header: 'x-email' }];
      const guardWith = (onRefusal: 'respond' | 'next') =>
        protect(
          jwt({ providers: { main: { issuer: ISSUER, jwks: issuer.keySet, claimsToHeaders } }, onRefusal }, context),
          rbac({ policies: POLICIES, onRefusal }, context),
        );
      const restResolver = { upstreamRef: { name: 'pets' }, request: { headers: { ':path': '/pets/{$args.id}' } } };
      const api = graphqlApi({
        schemaDefinition: 'type Query { pet(id: ID!): Pet @resolve(name: "pet") } type Pet { name: String }',
        resolutions: { pet: { restResolver } },
        upstreams: { pets: target },
      });
      const guard = guardWith('respond');
      parts = {
        guard,
        passing: guardWith('next'),
        forward: protect(forwardTo({ target })),
        graphql: protect(guard, api),
        limited: protect(
          rateLimit({ requestsPerUnit: 2, unit: 'DAY', by: 'address', headers: true, retryAfter: true }),
          (_req, res) => void res.end('served'),
        ),
      };
      application = await start(parts);
      acceptUpgrades(application.server, { '/socket': protect(guard, sockets) });
      url = `http://127.0.0.1:${(application.server.address() as AddressInfo).port}`;
    });
    after(async () => {
      await application.close();
      await parts.graphql.close();
      await parts.forward.close();
      upstream.closeAllConnections();
      await new Promise((resolve) => upstream.close(resolve));
    });

    async function ask(path: string, claims?: object, init: RequestInit = {}) {
      const headers: Record<string, string> = { 'x-email': 'forged', ...(init.headers as Record<string, string>) };
      if (claims) headers['authorization'] = `Bearer ${await issuer.sign(claims as Record<string, unknown>)}`;
      const response = await fetch(url + path, { ...init, headers });
      return { status: response.status, body: await response.text(), headers: response.headers };
    }
    const post = (body: unknown): RequestInit => ({
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });

    it('returns 401 without a token and 403 without the role', async () => {
      const missing = await ask('/api/pets');
      expect(missing).to.include({ status: 401, body: 'Jwt is missing' });
      expect(missing.headers.get('www-authenticate')).to.match(/^Bearer realm=/);
      expect(await ask('/api/pets', { email: 'user@example.com' })).to.include({
        status: 403,
        body: 'RBAC: access denied',
      });
    });

    it('allows the role; the handler reads the identity', async () => {
      const { status, body } = await ask('/api/pets', ADMIN);
      expect(status, body).to.equal(200);
      const seen = { subject: 'me', groups: ['staff'], provider: 'main', email: ADMIN.email };
      expect(JSON.parse(body)).to.deep.equal(seen);
    });

    for (const path of SPELLINGS) {
      it(`cannot be bypassed by another spelling of the path: ${path}`, async () => {
        const { port } = application.server.address() as AddressInfo;
        const status = await new Promise<number>((resolve, reject) => {
          request({ port, path, agent: false }, (response) => {
            response.resume().on('end', () => resolve(response.statusCode!));
          })
            .on('error', reject)
            .end();
        });
        expect(status).to.be.oneOf([400, 401, 403, 404]);
      });
    }

    it('passes rejections to the error handler of the framework', async () => {
      const missing = await ask('/errors/pets');
      expect([missing.status, JSON.parse(missing.body)]).to.deep.equal([401, { handled: 'ERR_RBAC_JWT' }]);
      const denied = await ask('/errors/pets', { email: 'user@example.com' });
      expect([denied.status, JSON.parse(denied.body)]).to.deep.equal([403, { handled: 'ERR_RBAC_DENIED' }]);
      const passed = await ask('/errors/pets', ADMIN);
      expect([passed.status, JSON.parse(passed.body).subject]).to.deep.equal([200, 'me']);
    });

    it('forwards after a body parser', async () => {
      const { status, body } = await ask('/forward/a?b=1', undefined, post({ name: 'Rex' }));
      expect(status, body).to.equal(200);
      expect(JSON.parse(body)).to.deep.include({ method: 'POST', url: '/a?b=1', body: '{"name":"Rex"}' });
      expect(JSON.parse((await ask('/forward/c')).body)).to.deep.include({ method: 'GET', url: '/c', body: '' });
    });

    it('serves a GraphQL API', async () => {
      const query = post({ query: '{ pet(id: 1) { name } }' });
      expect((await ask('/graphql', undefined, query)).status).to.equal(401);
      const { status, body } = await ask('/graphql', ADMIN, query);
      expect([status, body]).to.deep.equal([200, '{"data":{"pet":{"name":"Rex"}}}']);
    });

    it('limits requests', async () => {
      const found = [await ask('/limited'), await ask('/limited'), await ask('/limited')];
      expect(found.map(({ status }) => status)).to.deep.equal([200, 200, 429]);
      expect(found.map(({ headers }) => headers.get('x-ratelimit-remaining'))).to.deep.equal(['1', '0', '0']);
      const { body, headers } = found[2]!;
      expect([body, headers.get('x-envoy-ratelimited')]).to.deep.equal(['', 'true']);
      expect(Number(headers.get('retry-after'))).to.be.within(1, 86_400);
    });

    it('protects WebSockets', async () => {
      const authorization = `Bearer ${await issuer.sign(ADMIN)}`;
      expect((await openSocket(`${url}/socket`)).status).to.equal(401);
      expect((await openSocket(`${url}/socket`, { authorization: `${authorization}x` })).status).to.equal(401);
      expect((await openSocket(`${url}/socket`, { authorization })).status).to.equal(101);
      expect((await openSocket(`${url}/other`, { authorization })).status).to.equal(404);
      expect(sockets.count()).to.equal(1);
    });
  });
}

import type { IncomingMessage } from 'node:http';
import { createContext, factsOf, type ActionExchange, type Responder, type Scope } from '@edge-gateway/core';
import { expect } from 'chai';
import { graphqlAction } from '../../src/action.ts';
import { carriesIdentity, isGuarded } from '../../src/http/identity.ts';
import { ask, serve, type TestServer } from '../servers.ts';

const scopeOf = (virtualHost: object, route: object = {}): Scope =>
  ({ virtualHost: { options: virtualHost }, route: { options: route } }) as unknown as Scope;

describe('identified requests', () => {
  for (const [name, virtualHost, route, guarded] of [
    ['no policy', {}, { timeout: '1s' }, false],
    ['rbac of the virtual host', { rbac: {} }, {}, true],
    ['jwt of the virtual host', { jwtStaged: {} }, {}, true],
    ['extauth of the virtual host', { extauth: {} }, {}, true],
    ['extauth that the route turns off', { extauth: {} }, { extauth: { disable: true } }, false],
    ['rbac beside extauth that is off', { extauth: {} }, { extauth: { disable: true }, rbac: {} }, true],
    ['extauth of the route', {}, { extauth: {} }, true],
    ['providers of the route', {}, { jwtProvidersStaged: {} }, true],
  ] as const) {
    it(`is ${guarded ? '' : 'not '}decided by a route with ${name}`, () => {
      expect(isGuarded(scopeOf(virtualHost, route))).to.equal(guarded);
    });
  }

  const request = (headers: Record<string, string> = {}, socket: object = {}): IncomingMessage =>
    ({ headers, socket, url: '/', method: 'POST' }) as unknown as IncomingMessage;

  it('are recognized by credentials, a certificate, an identity, and a policy that has let them pass', () => {
    const said = (req: IncomingMessage): boolean => carriesIdentity(req, factsOf(req));
    expect(said(request({ 'x-page': '1' }))).to.equal(false);
    expect(said(request({ authorization: 'Basic YTpi' }))).to.equal(true);
    expect(said(request({ cookie: 'a=b' }))).to.equal(true);
    expect(said(request({}, { authorized: true }))).to.equal(true);
    const verified = request();
    factsOf(verified).identity = { provider: 'a', claims: {}, groups: [] };
    expect(said(verified)).to.equal(true);
    const allowed = request();
    factsOf(allowed).isGuarded = true;
    expect(said(allowed)).to.equal(true);
  });

  describe('on a route of the gateway', () => {
    const open: TestServer[] = [];
    afterEach(async () => {
      for (const each of open.splice(0)) await each.close();
    });

    /** One API on two routes: behind a policy, and free for all. */
    async function routes() {
      const api = {
        ref: { name: 'a', namespace: 'gw-system' },
        subschemas: [],
        spec: {
          executableSchema: {
            schemaDefinition: 'type Query { n: Int @resolve(name: "n") @cacheControl(maxAge: 60) }',
            executor: { local: { resolutions: { n: { mockResolver: { syncResponse: 7 } } } } },
          },
        },
      };
      const context = createContext();
      const compile = (options: object): Responder => {
        const scope = { virtualHost: { options: {}, graphqlApis: [api] }, route: { options } } as unknown as Scope;
        return graphqlAction().compile({ type: 'graphql', api: api.ref } as never, context, scope);
      };
      const [free, guarded] = [compile({}), compile({ rbac: {} })];
      const server = await serve((req, res) => {
        const writeHead: ActionExchange['writeHead'] = (status, headers) => void res.writeHead(status, [...headers]);
        (req.url === '/guarded' ? guarded : free)({ req, res, writeHead }, () => res.destroy());
      });
      open.push(server);
      return async (path: string) => (await ask(server.url + path, '{ n }')).headers.get('cache-control');
    }

    it('a result without a scope is private behind a policy, and public elsewhere', async () => {
      const get = await routes();
      expect(await get('/free')).to.equal('max-age=60, public');
      expect(await get('/guarded')).to.equal('max-age=60, private');
      expect(await get('/free')).to.equal('max-age=60, public');
    });
  });
});

import type { Server } from 'node:http';
import { serve, type HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { Hono, type Context, type MiddlewareHandler } from 'hono';
import { runMiddleware, type GatewayError, type Handler } from '@edge-gateway/core';
import { handled, testFramework, whoIs } from './suite.ts';

type Env = { readonly Bindings: HttpBindings };

const guardedBy =
  (handler: Handler): MiddlewareHandler<Env> =>
  async (c, next) => {
    if (!(await runMiddleware(handler, c.env.incoming, c.env.outgoing))) return RESPONSE_ALREADY_SENT;
    await next();
    return undefined;
  };

testFramework('Hono on node', async ({ guard, passing, forward, graphql, limited }) => {
  const app = new Hono<Env>();
  app.use('/api/*', guardedBy(guard));
  app.use('/errors/*', guardedBy(passing));
  for (const path of ['/api/pets', '/errors/pets']) {
    app.get(path, (c: Context<Env>) => c.json(whoIs(c.env.incoming, c.req.header('x-email'))));
  }
  app.all('/graphql', guardedBy(graphql));
  app.all('/limited', guardedBy(limited));
  app.all('/forward/*', async (c) => {
    const body = c.req.method === 'POST' ? await c.req.json() : undefined;
    const { incoming, outgoing } = c.env;
    Object.assign(incoming, { body, url: incoming.url!.slice('/forward'.length) });
    await runMiddleware(forward, incoming, outgoing);
    return RESPONSE_ALREADY_SENT;
  });
  app.onError((error, c) => c.json(handled(error), (error as GatewayError).status as 401));
  const server = await new Promise<Server>((resolve) => {
    const started = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, () => resolve(started as Server));
  });
  return { server, close: () => new Promise((resolve) => (server.closeAllConnections(), server.close(resolve))) };
});

import middie from '@fastify/middie';
import fastify, { type FastifyInstance } from 'fastify';
import { runMiddleware, type GatewayError } from '@edge-gateway/core';
import { handled, testFramework, whoIs, type Application, type Parts } from './suite.ts';

async function listen(app: FastifyInstance): Promise<Application> {
  await app.listen({ port: 0, host: '127.0.0.1' });
  return { server: app.server, close: () => (app.server.closeAllConnections(), app.close()) };
}

function addRoutes(app: FastifyInstance, { forward }: Parts): void {
  app.setErrorHandler((error: GatewayError, _request, reply) => reply.code(error.statusCode).send(handled(error)));
  // The body parser of Fastify has run before a route.
  app.all('/forward/*', async ({ raw, body }, reply) => {
    Object.assign(raw, { body, url: raw.url!.slice('/forward'.length) });
    await runMiddleware(forward, raw, reply.raw);
    reply.hijack();
  });
}

testFramework('Fastify with middie', async (parts) => {
  const app = fastify();
  await app.register(middie);
  app.use('/api', parts.guard);
  app.use('/errors', parts.passing);
  app.use('/graphql', parts.graphql);
  app.use('/limited', parts.limited);
  for (const path of ['/api/pets', '/errors/pets']) {
    app.get(path, async ({ raw, headers }) => whoIs(raw, headers['x-email']));
  }
  addRoutes(app, parts);
  return listen(app);
});

testFramework('Fastify with a plugin', async (parts) => {
  const app = fastify();
  addRoutes(app, parts);
  for (const [prefix, guard] of Object.entries({ '/api': parts.guard, '/errors': parts.passing })) {
    await app.register(
      async (scope) => {
        scope.addHook('onRequest', async ({ raw }, reply) => {
          if (!(await runMiddleware(guard, raw, reply.raw))) reply.hijack();
        });
        scope.get('/pets', async ({ raw, headers }) => whoIs(raw, headers['x-email']));
      },
      { prefix },
    );
  }
  app.all('/limited', async ({ raw }, reply) => {
    await runMiddleware(parts.limited, raw, reply.raw);
    reply.hijack();
  });
  app.all('/graphql', async ({ raw, body }, reply) => {
    await runMiddleware(parts.graphql, Object.assign(raw, { body }), reply.raw);
    reply.hijack();
  });
  return listen(app);
});

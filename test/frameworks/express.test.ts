import { createRequire } from 'node:module';
import express from 'express';
import type { GatewayError } from '@edge-gateway/core';
import { handled, testFramework, whoIs, type StartApplication } from './suite.ts';

const express4 = createRequire(import.meta.url)('express4') as typeof express;

const startWith =
  (framework: typeof express): StartApplication =>
  async ({ guard, passing, forward, graphql, limited }) => {
    const app = framework();
    app.use(framework.json());
    app.use('/api', guard);
    app.use('/errors', passing);
    for (const path of ['/api/pets', '/errors/pets']) {
      app.get(path, (req, res) => void res.json(whoIs(req, req.headers['x-email'])));
    }
    app.use('/forward', forward);
    app.use('/graphql', graphql);
    app.use('/limited', limited);
    app.use((error: GatewayError, _req: express.Request, res: express.Response, _next: express.NextFunction) => {
      res.status(error.status).json(handled(error));
    });
    const server = app.listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    return { server, close: () => new Promise((resolve) => (server.closeAllConnections(), server.close(resolve))) };
  };

testFramework('Express 5', startWith(express));
testFramework('Express 4', startWith(express4));

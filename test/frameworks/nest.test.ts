import 'reflect-metadata';
import type { IncomingMessage, Server } from 'node:http';
import {
  Catch,
  Controller,
  Get,
  Module,
  Req,
  type ArgumentsHost,
  type ExceptionFilter,
  type MiddlewareConsumer,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { Response } from 'express';
import { GatewayError } from '@edge-gateway/core';
import { handled, testFramework, whoIs } from './suite.ts';

class PetsController {
  list(req: IncomingMessage): object {
    return whoIs(req, req.headers['x-email']);
  }
}
// Node runs these files as they are, without decorators; their functions do the same.
Controller(['api/pets', 'errors/pets'])(PetsController);
Get()(PetsController.prototype, 'list', Object.getOwnPropertyDescriptor(PetsController.prototype, 'list')!);
Req()(PetsController.prototype, 'list', 0);

class RefusalFilter implements ExceptionFilter<GatewayError> {
  catch(error: GatewayError, host: ArgumentsHost): void {
    host.switchToHttp().getResponse<Response>().status(error.status).json(handled(error));
  }
}
Catch(GatewayError)(RefusalFilter);

testFramework('Nest', async ({ guard, passing, forward, graphql, limited }) => {
  class AppModule {
    configure(consumer: MiddlewareConsumer): void {
      consumer.apply(guard).forRoutes('api');
      consumer.apply(passing).forRoutes('errors');
      consumer.apply(forward).forRoutes('forward');
      consumer.apply(graphql).forRoutes('graphql');
      consumer.apply(limited).forRoutes('limited');
    }
  }
  Module({ controllers: [PetsController] })(AppModule);
  const app = await NestFactory.create(AppModule, { logger: false });
  app.useGlobalFilters(new RefusalFilter());
  await app.listen(0, '127.0.0.1');
  const server = app.getHttpServer() as Server;
  return { server, close: () => (server.closeAllConnections(), app.close()) };
});

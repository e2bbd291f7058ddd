import type { IncomingMessage } from 'node:http';
import { DownstreamHead } from '../route/downstream-head.ts';
import type { CompiledListener } from './listener-table.ts';
import { textReply } from './reply.ts';
import type { RoutedRequest } from './routed-request.ts';

/** Returns true for the path that a load balancer in front uses to check the health of this proxy. */
export function isHealthPath({ source }: CompiledListener, { url }: IncomingMessage): boolean {
  const path = source.httpOptions.healthCheck?.path;
  return path !== undefined && path !== '' && path === url;
}

/** Responds with 200, or 503 while the proxy should not receive new requests. Such requests are logged, but not counted. */
export function respondHealth(request: RoutedRequest): void {
  const { req, result, environment } = request;
  const healthy = environment.isHealthy();
  request.head = new DownstreamHead(req.method ?? 'GET', req.url ?? '');
  result.isHealthCheck = true;
  result.details = healthy ? 'health_check_ok' : 'health_check_failed';
  request.reply(textReply(healthy ? 200 : 503, '', healthy ? [] : ['connection', 'close']));
}

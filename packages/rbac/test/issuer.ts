import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createContext, GatewayError, type Context, type Handler } from '@edge-gateway/core';
import { NOW } from '../../core/test/security/jwt/issuer.ts';

export { createIssuer, ISSUER, NOW, seconds, type Issuer } from '../../core/test/security/jwt/issuer.ts';

export const testContext = (parts: Partial<Context> = {}): Context => createContext({ now: () => NOW, ...parts });

/** What the handler behind the middleware saw, or how the middleware answered. */
export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly authenticate: string | null;
  /** Header names in lower case; only when the request got through. */
  readonly seen: Readonly<Record<string, string>>;
  readonly path: string;
}

/** A plain server with these middlewares in a row, which answers what it saw. */
export async function serve(...handlers: Handler[]): Promise<{
  ask(path?: string, headers?: Record<string, string | string[]>, method?: string): Promise<Answer>;
  close(): Promise<void>;
}> {
  const server: Server = createServer((req, res) => {
    const step =
      (i: number) =>
      (error?: unknown): void => {
        if (error) {
          const { status, message, headers } = error as GatewayError;
          res.writeHead(status, headers).end(message);
        } else if (i < handlers.length) handlers[i]!(req, res, step(i + 1));
        else res.end(JSON.stringify({ headers: req.headers, path: req.url }));
      };
    step(0)();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    ask: (path = '/', headers = {}, method = 'GET') => ask(port, { path, headers, method }),
    close: () => new Promise((resolve) => (server.closeAllConnections(), server.close(() => resolve()))),
  };
}

async function ask(
  port: number,
  { path, headers, method }: { path: string; headers: Record<string, string | string[]>; method: string },
): Promise<Answer> {
  const { request } = await import('node:http');
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request({ port, host: '127.0.0.1', path, headers: { host: 'api.test', ...headers }, method }, resolve)
      .on('error', reject)
      .end();
  });
  let body = '';
  for await (const chunk of response) body += chunk;
  const through =
    response.statusCode === 200 && body !== ''
      ? (JSON.parse(body) as { headers: Record<string, string>; path: string })
      : undefined;
  return {
    status: response.statusCode!,
    body,
    authenticate: response.headers['www-authenticate'] ?? null,
    seen: through?.headers ?? {},
    path: through?.path ?? '',
  };
}

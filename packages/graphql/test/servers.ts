import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Handler } from '@edge-gateway/core';

/** A server of a test, and what it was asked. */
export interface TestServer {
  readonly url: string;
  /** `METHOD path`, in order. */
  readonly asked: string[];
  readonly server: Server;
  close(): Promise<void>;
}

/** Serves on a free port. */
export async function serve(listener: RequestListener): Promise<TestServer> {
  const asked: string[] = [];
  const server = createServer((req, res) => {
    asked.push(`${req.method} ${req.url}`);
    listener(req, res);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    server,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Serves a handler; its errors answer 500 with their code. */
export function serveHandler(handler: Handler): Promise<TestServer> {
  return serve((req, res) =>
    handler(req, res, (error) => {
      res.writeHead(500, { 'content-type': 'text/plain' });
      res.end(String((error as { code?: string })?.code ?? error));
    }),
  );
}

/** A backend that answers JSON, or whatever a function does with the response. */
export function serveJson(
  answers: Readonly<Record<string, unknown>>,
  otherwise: (req: IncomingMessage, res: ServerResponse) => void = (_req, res) => {
    res.writeHead(404).end();
  },
): Promise<TestServer> {
  return serve((req, res) => {
    const answer = answers[req.url!];
    if (answer === undefined) return otherwise(req, res);
    if (typeof answer === 'function') return void (answer as RequestListener)(req, res);
    res.writeHead(200, { 'content-type': 'application/json' });
    res.end(JSON.stringify(answer));
  });
}

export interface GraphQLAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: any;
}

/** Posts a query and gives the answer. */
export async function ask(
  url: string,
  query: string,
  variables?: object,
  headers: Record<string, string> = {},
): Promise<GraphQLAnswer> {
  return post(url, JSON.stringify({ query, variables }), headers);
}

/** Posts a body as it is. */
export async function post(url: string, body: string, headers: Record<string, string> = {}): Promise<GraphQLAnswer> {
  const response = await fetch(url, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', ...headers },
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
}

import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { WebSocket, WebSocketServer } from 'ws';
import { identityOf, type Handler, type Identity } from '@edge-gateway/core';

/** What a destination saw of an upgrade. */
export interface Greeting {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly identity: Identity | undefined;
}

/** How an upgrade ended: a greeting, or the response in place of it. */
export type Opened =
  | { readonly status: 101; readonly greeting: Greeting; readonly cookies: readonly string[] }
  | { readonly status: number; readonly body: string; readonly headers: IncomingMessage['headers'] };

/** A destination that takes every WebSocket and greets it; `count` says how many. */
export function greeter(): Handler & { count(): number } {
  const sockets = new WebSocketServer({ noServer: true });
  let accepted = 0;
  const handler: Handler = (_req, res) => void res.end('requested');
  return Object.assign(handler, {
    count: () => accepted,
    upgrade(req: IncomingMessage, socket: never, head: Buffer) {
      sockets.handleUpgrade(req, socket, head, (client) => {
        accepted++;
        client.send(JSON.stringify({ url: req.url, headers: req.headers, identity: identityOf(req) }));
      });
    },
  });
}

/** Opens a WebSocket, and closes it behind the greeting. */
export async function openSocket(url: string, headers: Record<string, string> = {}): Promise<Opened> {
  const client = new WebSocket(url.replace(/^http/, 'ws'), { headers });
  let cookies: readonly string[] = [];
  client.once('upgrade', (response) => (cookies = response.headers['set-cookie'] ?? []));
  const refused = new Promise<Opened>((resolve, reject) => {
    client.once('unexpected-response', (_request, response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
      response.on('end', () => resolve({ status: response.statusCode!, body, headers: response.headers }));
    });
    client.once('error', reject);
  });
  const greeted = once(client, 'message').then(([data]): Opened => ({
    status: 101,
    greeting: JSON.parse(String(data)) as Greeting,
    cookies,
  }));
  try {
    return await Promise.race([refused, greeted]);
  } finally {
    client.on('error', () => {}).terminate();
  }
}

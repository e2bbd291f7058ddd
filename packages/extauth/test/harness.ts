import { createServer, request as ask, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  createContext,
  type AuthMethod,
  type AuthRequest,
  type Context,
  type Secrets,
  type SecretValue,
} from '@edge-gateway/core';
import type { AuthConfigSpec, AuthStep, ExtAuthServer } from '@edge-gateway/core/schema';
import { extauth, type ExtAuthMiddlewareOptions } from '../src/index.ts';

const open: Server[] = [];
/** In place of 200 ms, which is too little for a busy machine where the time is not what is tested. */
const PATIENT: ExtAuthServer = { requestTimeout: '30s' };

/** Starts a server on a free port of 127.0.0.1 and gives its address. */
export async function start(handler: (req: IncomingMessage, res: ServerResponse) => void): Promise<string> {
  const server = createServer(handler);
  open.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Stops every server that `start` started. */
export async function stopAll(): Promise<void> {
  for (const server of open.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

/** Secrets as they are written, in the namespace `n`. */
export function secretsOf(written: Readonly<Record<string, Readonly<Record<string, string>>>>): Secrets {
  const values = new Map(
    Object.entries(written).map(([name, data]): [string, SecretValue] => [
      name,
      {
        type: 'Opaque',
        data: Object.fromEntries(
          Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'utf8').toString('base64')]),
        ),
      },
    ]),
  );
  return { get: ({ name }) => values.get(name) };
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface Call {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string;
}

/** Asks over HTTP, without any help of a client. */
export function call(url: string, { method = 'GET', headers = {}, body = '' }: Call = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = ask(url, { method, headers: headers as Record<string, string>, agent: false }, (res) => {
      let text = '';
      res.setEncoding('utf8');
      res.on('data', (chunk: string) => (text += chunk));
      res.on('end', () => resolve({ status: res.statusCode ?? 0, headers: res.headers, body: text }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

export interface Guarded {
  ask(path?: string, more?: Call): Promise<Answer>;
  /** Headers that the handler behind saw. */
  seen(path?: string, more?: Call): Promise<Readonly<Record<string, string>>>;
}

export interface GuardedParts {
  readonly settings?: ExtAuthServer;
  readonly context?: Context;
  readonly secrets?: Secrets;
  readonly methods?: ExtAuthMiddlewareOptions['methods'];
}

/** A server of its own with the middleware in front of a handler that tells what it saw. */
export async function guarded(config: AuthConfigSpec, parts: GuardedParts = {}): Promise<Guarded> {
  const { settings, secrets, methods, context = createContext(secrets ? { secrets } : {}) } = parts;
  const guard = extauth({ config, settings: { ...PATIENT, ...settings }, ...(methods && { methods }) }, context);
  const url = await start((req, res) => {
    guard(req, res, (error) => {
      if (error) res.writeHead(500).end('error');
      else if (req.method === 'POST') void echoBody(req, res);
      else res.setHeader('x-target', req.url ?? '').end(JSON.stringify(req.headers));
    });
  });
  const ask: Guarded['ask'] = (path = '/', more = {}) => call(url + path, more);
  return {
    ask,
    async seen(path, more) {
      const { status, body } = await ask(path, more);
      if (status !== 200) throw new Error(`refused with ${status}`);
      return JSON.parse(body) as Record<string, string>;
    },
  };
}

async function echoBody(req: IncomingMessage, res: ServerResponse): Promise<void> {
  let size = 0;
  for await (const chunk of req) size += (chunk as Buffer).length;
  res.end(String(size));
}

/** Asks a method about a request with these headers from a client address. */
export function askFrom(method: AuthMethod, clientAddress: string, headers: Readonly<Record<string, string>> = {}) {
  const request: AuthRequest = {
    requestId: '',
    method: 'GET',
    scheme: 'http',
    host: 'api.test',
    path: '/',
    header: (name) => headers[name],
    headers: () => Object.entries(headers).flat(),
    clientAddress,
    state: {},
    metadata: new Map(),
  };
  return method.authorize(request);
}

/** A chain of one step. */
export const only = (step: AuthStep, more: Partial<AuthConfigSpec> = {}): AuthConfigSpec => ({
  configs: [step],
  ...more,
});

export const basic = (name: string, password: string): string =>
  `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;

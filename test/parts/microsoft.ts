import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What one of the two servers was asked. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** What it answers: text as it is, all else as JSON. */
export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Announces the whole answer, sends half of it and goes. */
  readonly isCut?: boolean;
}

/** The two servers of a Microsoft cloud that a gateway asks for groups; they say what a test wants. */
export interface Microsoft {
  readonly addresses: { readonly login: string; readonly graph: string };
  readonly tokenCalls: Asked[];
  readonly graphCalls: Asked[];
  /** Answers for tokens. */
  token: (asked: Asked) => Reply | Promise<Reply>;
  /** Answers for groups. */
  graph: (asked: Asked) => Reply | Promise<Reply>;
  close(): Promise<void>;
}

/** So many ids of groups. */
export const groupIds = (count: number): string[] =>
  Array.from({ length: count }, (_, i) => `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`);

/** Starts both on free ports of 127.0.0.1; unless told otherwise each user has 250 groups. */
export async function startMicrosoft(): Promise<Microsoft> {
  const [login, loginUrl] = await serve((asked) => {
    cloud.tokenCalls.push(asked);
    return cloud.token(asked);
  });
  const [graph, graphUrl] = await serve((asked) => {
    cloud.graphCalls.push(asked);
    return cloud.graph(asked);
  });
  const cloud: Microsoft = {
    addresses: { login: loginUrl, graph: graphUrl },
    tokenCalls: [],
    graphCalls: [],
    token: () => ({ body: { token_type: 'Bearer', access_token: 'the-app-token', expires_in: 3599 } }),
    graph: () => ({ body: { value: groupIds(250) } }),
    close: async () => {
      for (const server of [login, graph]) {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }
    },
  };
  return cloud;
}

async function serve(answer: (asked: Asked) => Reply | Promise<Reply>): Promise<[Server, string]> {
  const server = createServer((req, res) => {
    let body = '';
    req.on('data', (chunk: Buffer) => (body += chunk.toString()));
    req.on('end', () => {
      const { method = '', url: path = '', headers } = req;
      void Promise.resolve(answer({ method, path, headers, body })).then((reply) => write(res, reply));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return [server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`];
}

function write(res: ServerResponse, { status = 200, headers = {}, body = {}, isCut }: Reply): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  res.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    ...headers,
  });
  if (!isCut) return void res.end(text);
  res.write(text.slice(0, text.length / 2), () => res.destroy());
}

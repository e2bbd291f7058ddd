import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { documents } from './fixtures.ts';

/** Answers a request by itself. */
export type Handle = (req: IncomingMessage, res: ServerResponse) => void;

/** A server that gives a fixed answer per path, and keeps what it was asked. */
export interface AnsweringServer {
  readonly url: string;
  readonly asked: readonly string[];
  close(): Promise<void>;
}

/** Serves answers by path (without query): a string as it is, a function by itself, anything else as JSON; else 404. */
export async function answer(answers: Readonly<Record<string, unknown>>): Promise<AnsweringServer> {
  const asked: string[] = [];
  const server = createServer((req, res) => {
    asked.push(`${req.method} ${req.url}`);
    const path = req.url!.split('?', 1)[0]!;
    const found = answers[path];
    if (found === undefined) res.writeHead(404).end('not here');
    else if (typeof found === 'function') (found as Handle)(req, res);
    else res.end(typeof found === 'string' ? found : JSON.stringify(found));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** What a gateway with the resources of the fixtures answers, on both of its ports. */
export function recordedAnswers(): Record<string, unknown> {
  const data = (name: string) => ({ status: 'ok', data: documents(name) });
  return {
    '/snapshots/input': data('input.yaml'),
    '/snapshots/proxies': data('proxies.yaml'),
    '/problems': { total: 0, problems: [] },
    '/components': [
      { name: 'control-plane', kind: 'control-plane', state: 'ready' },
      { name: 'proxy', kind: 'proxy', state: 'ready' },
      { name: 'listener-::-8080', kind: 'listener', state: 'ready' },
    ],
    '/ready': 'LIVE\n',
    '/stats': 'server.live: 1\nhttp.http.downstream_rq_total: 3\n',
    '/server_info': { version: '0.0.0', command_line_options: {} },
    '/logging': 'active loggers:\n  router: debug\n',
    '/listeners': {
      listener_statuses: [
        { name: 'listener-::-8443', local_address: { socket_address: { address: '::', port_value: 8443 } } },
        { name: 'listener-::-8080', local_address: { socket_address: { address: '::', port_value: 8080 } } },
      ],
    },
    '/config_dump': {
      configs: [
        {
          dynamic_listeners: [
            { name: 'a', active_state: { listener: { name: 'listener-::-8080', filter_chains: [{}] } } },
            {
              name: 'b',
              active_state: { listener: { name: 'listener-::-8443', filter_chains: [{ transport_socket: {} }] } },
            },
          ],
        },
      ],
    },
  };
}

/** The flags that lead a call to an answering server. */
export function at(server: AnsweringServer): string[] {
  return ['--server', server.url, '--proxy-admin', server.url];
}

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import {
  DEFAULT_SNAPSHOT_SETTINGS,
  createContext,
  type Context,
  type Handler,
  type Listener,
  type Snapshot,
} from '@edge-gateway/core';
import { createListeners, type ListenLimits, type Listeners } from '../../src/index.ts';

/** A listener as a snapshot has it, plain unless told otherwise. */
export function listenerOf(parts: Partial<Listener> = {}): Listener {
  const bindPort = parts.bindPort ?? 8080;
  return {
    name: `listener-127.0.0.1-${bindPort}`,
    bindAddress: '127.0.0.1',
    bindPort,
    gateway: { name: 'gateway-proxy', namespace: 'gw-system' },
    ssl: false,
    options: {},
    httpOptions: {},
    routeOptions: {},
    sslConfigurations: [],
    virtualHosts: [],
    ...parts,
  };
}

let versions = 0;
let http1Parser: ListenLimits['http1Parser'] | undefined;

/** Runs tests with both parsers of HTTP/1.1. */
export function describeParsers(name: string, tests: () => void): void {
  for (const parser of ['plain', 'node'] as const) {
    describe(`${name} (${parser} parser)`, () => {
      before(() => (http1Parser = parser));
      after(() => (http1Parser = undefined));
      tests();
    });
  }
}

/** The parser of the current {@link describeParsers}. */
export const parserLimits = (): Partial<ListenLimits> => (http1Parser === undefined ? {} : { http1Parser });

export const snapshotOf = (...listeners: Listener[]): Snapshot => ({
  proxy: 'gateway-proxy',
  version: String(++versions),
  listeners,
  upstreams: [],
  settings: DEFAULT_SNAPSHOT_SETTINGS,
});

export interface Serving {
  readonly listeners: Listeners;
  readonly port: number;
  close(): Promise<void>;
}

/** Listeners on a free port of 127.0.0.1 in front of one handler. */
export async function serve(
  handler: Handler,
  options: { listener?: Partial<Listener>; limits?: Partial<ListenLimits>; context?: Context } = {},
): Promise<Serving> {
  const listeners = createListeners({
    router: { listener: () => handler },
    context: options.context ?? createContext(),
    host: '127.0.0.1',
    portOf: () => 0,
    limits: { ...parserLimits(), ...options.limits },
  });
  const [result] = await listeners.apply(snapshotOf(listenerOf(options.listener)));
  if (result?.error) throw result.error;
  return { listeners, port: result!.port!, close: () => listeners.close() };
}

export interface RawAnswer {
  readonly text: string;
  /** Status lines, in order. */
  readonly statuses: readonly number[];
  /** The body behind the first head, as JSON when it is. */
  readonly json: { code?: string; message?: string; requestId?: string };
  readonly closed: boolean;
}

/** An answer taken apart. */
export function parseAnswer(text: string, closed: boolean): RawAnswer {
  const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
  const body = text.slice(text.indexOf('\r\n\r\n') + 4);
  let json: RawAnswer['json'] = {};
  try {
    json = JSON.parse(body) as RawAnswer['json'];
  } catch {
    json = {};
  }
  return { text, statuses, json, closed };
}

/** Opens a connection; `received` grows, `closed` resolves at its end. */
export async function open(
  port: number,
): Promise<{ socket: Socket; text: () => string; closed: Promise<void>; until: (part: string) => Promise<string> }> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
  socket.on('error', () => {});
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  await Promise.race([once(socket, 'connect').catch(() => closed), closed]);
  async function until(part: string): Promise<string> {
    while (!text.includes(part)) {
      if (socket.destroyed) throw new Error(`closed before ${JSON.stringify(part)}: ${JSON.stringify(text)}`);
      await Promise.race([once(socket, 'data'), closed]);
    }
    return text;
  }
  return { socket, text: () => text, closed, until };
}

/** Sends bytes and gives all that comes back until the connection is closed by the other side. */
export async function exchange(port: number, ...parts: string[]): Promise<RawAnswer> {
  const { socket, text, closed } = await open(port);
  for (const part of parts) {
    if (socket.destroyed) break;
    socket.write(Buffer.from(part, 'latin1'));
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await closed;
  return parseAnswer(text(), true);
}

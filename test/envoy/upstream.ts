import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { Certificates } from '../parts/certificates.ts';
import { readMessage, type Message } from './message.ts';
import { serveHttp2 } from './http2/http2-upstream.ts';
import { reply, type Reply, type UpstreamConnection } from './scenario.ts';
import { acceptTls } from './tls/serve-tls.ts';
import { acceptOf } from '../../packages/routing/src/websocket/accept.ts';
import { ACCEPT } from './tunnel/handshakes.ts';
import { opensTunnel } from './tunnel/opens-tunnel.ts';
import { Replier, type Heard, type TunnelSide } from './tunnel/talk.ts';
import type { Version } from './versions.ts';

/** An upstream that keeps what it receives and replies as scripted. */
export interface ScriptedUpstream {
  readonly port: number;
  /** Requests since the last `play`. */
  readonly received: readonly Message[];
  /** Codes of the resets of streams since the last `play`. */
  readonly resets: readonly number[];
  /** What it heard in the last tunnel since the last `play`. */
  readonly heard: Heard | undefined;
  /** Forgets what was received, and replies with these from now on. */
  play(replies?: readonly Reply[]): void;
  close(): Promise<void>;
}

const DEFAULT_REPLIES: readonly Reply[] = [reply('200 OK', [], 'ok')];

/** Starts an upstream on a free port of 127.0.0.1, with TLS if there are certificates. */
export async function startUpstream(version: Version = 1, certificates?: Certificates): Promise<ScriptedUpstream> {
  const sockets = new Set<Socket>();
  let replies = DEFAULT_REPLIES;
  let received: Message[] = [];
  let resets: number[] = [];
  let heard: Replier | undefined;

  function nextReply(): Reply {
    return replies[Math.min(received.length, replies.length - 1)]!;
  }

  function openTunnel(side: TunnelSide): Replier {
    return (heard = new Replier(side));
  }

  function receive(message: Message): Reply {
    const next = nextReply();
    received.push(message);
    return next;
  }

  /** `below` is the TCP connection of one with TLS. */
  function serve(socket: Socket, below = socket): void {
    sockets.add(socket);
    let text = '';
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    const reset = (): void => void below.resetAndDestroy();
    if (version === 2) {
      const onReset = (code: number): void => void resets.push(code);
      return serveHttp2({ socket, reset }, { receive, nextReply, openTunnel, onReset });
    }
    let replier: Replier | undefined;
    const side = {
      send: (data: string) => void socket.write(data, 'latin1'),
      end: () => void socket.end(),
      reset,
    };
    socket.on('end', () => replier?.ended('end')).on('close', () => replier?.ended('reset'));
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => {
      if (replier) return replier.receive(chunk);
      text += chunk;
      if (text.includes('\r\nexpect: 100-continue\r\n') && text.endsWith('\r\n\r\n'))
        socket.write('HTTP/1.1 100 Continue\r\n\r\n');
      for (let next = readMessage(text, { ended: false }); next; next = readMessage(text, { ended: false })) {
        text = next.rest;
        const answer = receive(next.message);
        play(side, withAccept(answer, next.message));
        if (!opensTunnel(next.message, answer)) continue;
        replier = openTunnel(side);
        if (text !== '') replier.receive(text);
        return;
      }
    });
  }

  const accept = certificates
    ? acceptTls(certificates, version === 2 ? 'h2' : 'http/1.1', serve)
    : (socket: Socket) => serve(socket);
  const server: Server = createServer(accept).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    get received() {
      return received;
    },
    get heard() {
      return heard;
    },
    get resets() {
      return resets;
    },
    play(next = DEFAULT_REPLIES) {
      replies = next;
      received = [];
      resets = [];
      heard = undefined;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function play(side: UpstreamConnection, next: Reply): void {
  if (typeof next === 'string') side.send(next);
  else if (typeof next === 'object') throw new TypeError('the reply needs HTTP/2');
  else next(side);
}

/** Replies confirm the key of the scenarios; a gateway whose client speaks HTTP/2 sends another one. */
function withAccept(next: Reply, { headers }: Message): Reply {
  const key = headers.find(([name]) => name.toLowerCase() === 'sec-websocket-key')?.[1];
  return typeof next === 'string' && key !== undefined ? next.replace(ACCEPT, acceptOf(key)) : next;
}

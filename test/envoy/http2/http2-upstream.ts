import type { Field } from '../../../packages/routing/test/listen/http2/hpack.ts';
import type { Message } from '../message.ts';
import type { Reply } from '../scenario.ts';
import type { ServedConnection } from '../served-connection.ts';
import { opensTunnel } from '../tunnel/opens-tunnel.ts';
import type { Replier, TunnelSide } from '../tunnel/talk.ts';
import { FrameConnection } from './frame-connection.ts';
import { ReplyWriter } from './reply-writer.ts';

const CANCEL = 8;

interface Receiving {
  readonly fields: readonly Field[];
  body: string;
}

/** What a scripted upstream does. */
export interface Http2UpstreamEvents {
  /** Keeps a complete request and returns the reply to it. */
  receive(message: Message): Reply;
  /** Returns the reply to the next request. */
  nextReply(): Reply;
  openTunnel(side: TunnelSide): Replier;
  onReset(code: number): void;
}

/** Serves a connection over HTTP/2. */
export function serveHttp2(
  { socket, reset }: ServedConnection,
  { receive, nextReply, openTunnel, onReset }: Http2UpstreamEvents,
): void {
  const open = new Map<number, Receiving>();
  const tunnels = new Map<number, Replier>();

  function complete(stream: number, trailers: readonly Field[] = []): void {
    const { fields, body } = open.get(stream)!;
    open.delete(stream);
    const value = (name: string): string => fields.find(([key]) => key === name)?.[1] ?? '';
    const headers = fields.filter(([name]) => name !== ':method' && name !== ':path');
    const startLine = `${value(':method')} ${value(':path')} HTTP/2`;
    const message = { startLine, headers, body, trailers, complete: true };
    const reply = receive(message);
    const sink = {
      headers: (list: readonly Field[], ends: boolean) => connection.headers(stream, list, ends),
      data: (text: string, ends: boolean) => connection.data(stream, text, ends),
      end: () => void socket.end(),
    };
    const writer = new ReplyWriter(value(':method'), { ...sink, reset }, value(':protocol'));
    socket.cork();
    if (typeof reply === 'object')
      reply.http2({
        ...sink,
        reset: (code) => connection.reset(stream, code),
        goaway: (place, code) => connection.goaway(place === 'before' ? Math.max(stream - 2, 0) : stream, code),
      });
    else if (typeof reply === 'string') writer.send(reply);
    else reply(writer);
    socket.uncork();
    if (opensTunnel(message, reply)) tunnels.set(stream, openTunnel(tunnelSide(stream)));
  }

  function tunnelSide(stream: number): TunnelSide {
    return {
      send: (text) => connection.data(stream, text, false),
      end: () => connection.data(stream, '', true),
      reset: () => connection.reset(stream, CANCEL),
    };
  }

  socket.on('close', () => {
    for (const tunnel of tunnels.values()) tunnel.ended('the end of the connection');
  });
  const connection = new FrameConnection(
    socket,
    {
      onHeaders(stream, fields, ends) {
        if (open.has(stream)) return complete(stream, fields);
        open.set(stream, { fields, body: '' });
        const reply = nextReply();
        const isTunnel = fields.some(([name, value]) => name === ':method' && value === 'CONNECT');
        if (ends || isTunnel || (typeof reply === 'object' && reply.isEarly)) return complete(stream);
        if (fields.some(([name, value]) => name === 'expect' && value === '100-continue'))
          connection.headers(stream, [[':status', '100']], false);
      },
      onData(stream, bytes, ends) {
        const tunnel = tunnels.get(stream);
        if (tunnel && bytes.length > 0) tunnel.receive(bytes.toString('latin1'));
        if (tunnel && ends) tunnel.ended('end');
        const request = open.get(stream);
        if (!request) return;
        request.body += bytes.toString('latin1');
        if (ends) complete(stream);
      },
      onReset(stream, code) {
        open.delete(stream);
        tunnels.get(stream)?.ended(`reset ${code}`);
        onReset(code);
      },
    },
    'server',
  );
}

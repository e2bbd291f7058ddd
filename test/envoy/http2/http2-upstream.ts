import type { Socket } from 'node:net';
import type { Field } from '../../../packages/routing/test/listen/http2/hpack.ts';
import type { Message } from '../message.ts';
import type { Reply } from '../scenario.ts';
import { FrameConnection } from './frame-connection.ts';
import { ReplyWriter } from './reply-writer.ts';

interface Receiving {
  readonly fields: readonly Field[];
  body: string;
}

/** Serves a connection over HTTP/2. `receive` keeps a complete request and returns the reply to it, which `nextReply` tells before. */
export function serveHttp2(
  socket: Socket,
  receive: (message: Message) => Reply,
  nextReply: () => Reply,
  onReset: (code: number) => void,
): void {
  const open = new Map<number, Receiving>();

  function complete(stream: number, trailers: readonly Field[] = []): void {
    const { fields, body } = open.get(stream)!;
    open.delete(stream);
    const value = (name: string): string => fields.find(([key]) => key === name)?.[1] ?? '';
    const headers = fields.filter(([name]) => name !== ':method' && name !== ':path');
    const startLine = `${value(':method')} ${value(':path')} HTTP/2`;
    const reply = receive({ startLine, headers, body, trailers, complete: true });
    const sink = {
      headers: (list: readonly Field[], ends: boolean) => connection.headers(stream, list, ends),
      data: (text: string, ends: boolean) => connection.data(stream, text, ends),
      end: () => void socket.end(),
    };
    const writer = new ReplyWriter(value(':method'), { ...sink, reset: () => void socket.resetAndDestroy() });
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
  }

  const connection = new FrameConnection(
    socket,
    {
      onHeaders(stream, fields, ends) {
        if (open.has(stream)) return complete(stream, fields);
        open.set(stream, { fields, body: '' });
        const reply = nextReply();
        if (ends || (typeof reply === 'object' && reply.isEarly)) return complete(stream);
        if (fields.some(([name, value]) => name === 'expect' && value === '100-continue'))
          connection.headers(stream, [[':status', '100']], false);
      },
      onData(stream, bytes, ends) {
        const request = open.get(stream);
        if (!request) return;
        request.body += bytes.toString('latin1');
        if (ends) complete(stream);
      },
      onReset(stream, code) {
        open.delete(stream);
        onReset(code);
      },
    },
    'server',
  );
}

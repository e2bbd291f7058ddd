import { constants, type ClientHttp2Stream } from 'node:http2';
import { UpstreamClosedError } from '../../http1/errors.ts';
import type { ResponseHead } from '../../http1/response-head.ts';
import type { ChannelUser } from '../../upstream/channel.ts';
import { ConnectionOverflowError } from '../../upstream/connection-limit.ts';
import { RelayedResponse } from '../../upstream/connect/relayed-response.ts';
import { readResponseHeaders } from '../../upstream/http2/stream-head.ts';
import type { UpstreamStream } from '../../upstream/http2/upstream-stream.ts';
import { hasEnded } from '../../tcp/has-ended.ts';
import type { AttemptEvents, SendAttempt } from './upgrade-attempt.ts';
import { sendHandshake } from './handshake.ts';

const CANCEL = constants.NGHTTP2_CANCEL;
const ignore = (): void => {};

/** Opens a stream of HTTP/2 for a tunnel, or for a WebSocket; without support for those (RFC 8441), a handshake is sent over HTTP/1.1. */
export const openStream: SendAttempt = (parts) => {
  const { cluster, host, socket, to, events } = parts;
  const pool = cluster.http2Pool(host);
  const protocol = to.tunnel ? undefined : parts.protocol;
  const head = pool.prepareTunnel(to, protocol);
  let isCancelled = false;
  let cancel = (): void => void pool.cancel(user);
  const user: ChannelUser = {
    client: socket,
    onOpen(channel) {
      // All streams of this pool are HTTP/2 streams.
      const stream = channel as UpstreamStream;
      if (isCancelled) return stream.leave();
      if (protocol === undefined || stream.acceptsWebSockets) {
        cancel = send(stream, head, { ...events, accepts: protocol === undefined ? isSuccess : isOk });
        return;
      }
      stream.leave();
      try {
        cancel = sendHandshake(parts);
      } catch (error) {
        events.onError(error as Error);
      }
    },
    onBroken({ sent }, error) {
      if (sent) events.onConnect();
      events.onError(error);
    },
    // The stream is used directly.
    onHead: ignore,
    onHeadAlone: ignore,
    onBody: ignore,
    onEnd: ignore,
  };
  if (!pool.acquire(user)) events.onError(new ConnectionOverflowError('too many requests are waiting'));
  return () => {
    isCancelled = true;
    cancel();
  };
};

/** Opens a tunnel (RFC 9110 §9.3.6). */
const isSuccess = (status: number): boolean => status < 300;
/** Accepts a WebSocket (RFC 8441 §5). */
const isOk = (status: number): boolean => status === 200;

/** Sends the request over a stream. Returns a function that resets it. */
function send(
  channel: UpstreamStream,
  head: readonly string[],
  events: AttemptEvents & { readonly accepts: (status: number) => boolean },
): () => void {
  let stream: ClientHttp2Stream;
  try {
    stream = channel.openTunnel(head);
  } catch (error) {
    events.onError(error as Error);
    return ignore;
  }
  events.onConnect(channel.local);
  let error: Error | undefined;
  const broken = (): void => events.onError(channel.tunnelError(error));
  stream.on('error', (reason: Error) => (error = reason)).once('close', broken);
  stream.once('aborted', () => process.nextTick(endReset, stream, hasEnded(stream)));
  stream.once('response', (_headers: unknown, _flags: unknown, raw?: readonly string[]) => {
    stream.off('close', broken);
    let response: ResponseHead;
    try {
      response = readResponseHeaders(raw ?? [], false);
    } catch (reason) {
      events.onError(reason as Error);
      return stream.close(CANCEL);
    }
    if (events.accepts(response.status)) events.onTunnel(response, stream);
    else events.onResponse(relayed(response, stream));
  });
  return () => channel.cancelTunnel();
}

/** Relays a response body from a stream. */
function relayed(head: ResponseHead, stream: ClientHttp2Stream): RelayedResponse {
  const response = new RelayedResponse(head, stream);
  stream.on('data', (chunk: Buffer) => response.receive(chunk)).on('end', () => response.push(null));
  stream.once(
    'close',
    () => stream.readableEnded || response.destroy(new UpstreamClosedError('the upstream reset the stream')),
  );
  return response;
}

/**
 * Ends a stream that the upstream has reset with `NO_ERROR`, after what it sent if that is complete: Node waits for what is still written to the
 * stream, although that is never sent.
 */
function endReset(stream: ClientHttp2Stream, isComplete: boolean): void {
  if (stream.rstCode !== 0 || stream.destroyed) return;
  if (!isComplete) stream.destroy(new UpstreamClosedError('the upstream reset the stream'));
  else if (stream.readableEnded) stream.destroy();
  else stream.once('end', () => stream.destroy());
}

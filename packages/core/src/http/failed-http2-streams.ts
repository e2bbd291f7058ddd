import { subscribe } from 'node:diagnostics_channel';

/** The native part of a session, by the description of its symbol. */
const HANDLE = 'kHandle';
/** Published by Node for each stream that closes, also for those of gRPC clients. */
const CHANNELS = ['http2.client.stream.close', 'http2.server.stream.close'];

interface ClosedStream {
  readonly stream: {
    readonly rstCode: number;
    readonly session?: { readonly destroyed: boolean; readonly [symbol: symbol]: object | undefined };
  };
}

let keptSessions: FinalizationRegistry<object> | undefined;

/**
 * Keeps the native part of HTTP/2 sessions until their failed streams are freed. Otherwise Node aborts ("current_nghttp2_memory_") when it
 * frees a session before a stream with an incomplete header block, which any server can cause with CONTINUATION frames.
 * Observes the streams of the whole process and changes none; further calls have no effect.
 */
export function keepSessionsOfFailedStreams(): void {
  if (keptSessions) return;
  keptSessions = new FinalizationRegistry(() => {});
  for (const channel of CHANNELS) subscribe(channel, keepSession);
}

function keepSession(message: unknown): void {
  const { stream } = message as ClosedStream;
  const { rstCode, session } = stream;
  if (!session || (rstCode === 0 && !session.destroyed)) return;
  const symbol = Object.getOwnPropertySymbols(session).find(({ description }) => description === HANDLE);
  const handle = symbol && session[symbol];
  if (handle) keptSessions?.register(stream, handle);
}

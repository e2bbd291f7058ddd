import { once } from 'node:events';
import type { Field } from '../../../packages/routing/test/listen/http2/hpack.ts';
import { TIMEOUT_MS, type Answered } from '../client.ts';
import type { Message } from '../message.ts';
import type { Case } from '../scenario.ts';
import { openClient, type ClientTarget } from '../tls/client-socket.ts';
import { Talker } from '../tunnel/talk.ts';
import type { Http2Request } from './http2-call.ts';
import { FrameConnection } from './frame-connection.ts';

const CANCEL = 8;
const OTHER_SCHEME: Readonly<Record<string, string>> = { http: 'https', https: 'http' };

interface Receiving {
  fields: readonly Field[];
  body: string;
}

/**
 * Sends requests over one connection, without TLS with prior knowledge, each when the response to the one before is complete. `untilReceived`
 * resolves when an upstream has received as many of them.
 */
export async function sendHttp2(
  target: ClientTarget,
  requests: readonly Http2Request[],
  { untilReceived, talk }: { readonly untilReceived: (count: number) => Promise<void> } & Pick<Case, 'talk'>,
): Promise<Answered> {
  const { socket, opened } = openClient(target, 'h2');
  const late = setTimeout(() => socket.destroy(new Error('no response in time')), TIMEOUT_MS);
  const responses: Message[] = [];
  let failed: Error | undefined;
  let goaway: number | undefined;
  const stops = new Map<number, number>();
  let current = -1;
  let part = 0;
  let response: Receiving | undefined;
  let talker: Talker | undefined;
  let talking: number | undefined;
  const settings = Promise.withResolvers<void>();
  const { promise: done, resolve: finish } = Promise.withResolvers<void>();

  const streamOf = (index: number): number => 2 * index + 1;

  /** Scenarios have the scheme of a connection without TLS. */
  function withScheme(field: Field): Field {
    if (target.serverName === undefined || field[0] !== ':scheme') return field;
    return [field[0], OTHER_SCHEME[field[1]] ?? field[1]];
  }

  function sendNext(): void {
    current++;
    part = 0;
    response = undefined;
    const request = requests[current];
    // Whatever announces the end of the connection comes before the response to a ping.
    if (!request) return connection.ping();
    const [first] = request.parts;
    const isWhole = first?.ends === true && first.body === '' && first.trailers.length === 0;
    socket.cork();
    connection.headers(streamOf(current), request.fields.map(withScheme), isWhole);
    if (isWhole) part++;
    else sendPart();
    socket.uncork();
    if (request.waits) void untilReceived(current + 1).then(sendPart);
  }

  function sendPart(): void {
    const next = requests[current]?.parts[part++];
    if (!next) return;
    const { body, trailers, ends, reset } = next;
    if (body !== '' || (ends && trailers.length === 0))
      connection.data(streamOf(current), body, ends && trailers.length === 0);
    if (trailers.length > 0) connection.headers(streamOf(current), trailers, true);
    if (reset === undefined) return;
    connection.reset(streamOf(current), reset);
    sendNext();
  }

  function add({ fields, body }: Receiving, trailers: readonly Field[], complete: boolean): void {
    const [status = ['', '']] = fields;
    responses.push({ startLine: status[1], headers: fields.slice(1), body, trailers, complete });
  }

  function end(trailers: readonly Field[], complete: boolean): void {
    add(response!, trailers, complete);
    sendNext();
  }

  /** The response is complete with its head; the next request follows the talk. */
  function openTunnel(head: Receiving): void {
    add(head, [], true);
    if (!talk) return sendNext();
    talking = streamOf(current);
    const side = {
      send: (text: string) => connection.data(talking!, text, false),
      end: () => connection.data(talking!, '', true),
      reset: () => connection.reset(talking!, CANCEL),
    };
    talker = new Talker(talk, side, sendNext);
  }

  function hear(text: string, ends: boolean): void {
    if (text !== '') talker!.receive(text);
    if (ends) talker!.ended('end');
  }

  const connection = new FrameConnection(
    socket,
    {
      onHeaders(stream, fields, ends) {
        if (stream !== streamOf(current)) return;
        if (response) return end(fields, ends);
        if (/^1(?!01)\d\d$/.test(fields[0]?.[1] ?? '')) {
          add({ fields, body: '' }, [], true);
          return sendPart();
        }
        response = { fields, body: '' };
        if (ends) end([], true);
        else if (requests[current]?.opensTunnel && fields[0]?.[1].startsWith('2')) openTunnel(response);
      },
      onData(stream, bytes, ends) {
        if (talker && stream === talking) return hear(bytes.toString('latin1'), ends);
        if (stream !== streamOf(current) || !response) return;
        response.body += bytes.toString('latin1');
        if (ends) end([], true);
      },
      onReset(stream, code) {
        if (talker && stream === talking) return talker.ended(`reset ${code}`);
        // A response that is complete may be followed by a reset that stops the upload.
        if (stream < streamOf(current)) stops.set(stream, code);
        if (stream !== streamOf(current)) return;
        if (!response) {
          responses.push({ startLine: `reset ${code}`, headers: [], body: '', trailers: [], complete: true });
          return sendNext();
        }
        end([], false);
      },
      onGoaway: (_last, code) => (goaway = code),
      onSettings: () => settings.resolve(),
      onPong: finish,
    },
    'client',
  );
  socket.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') failed = error;
  });
  let hasEnded = false;
  socket.on('close', () => {
    hasEnded = true;
    talker?.ended('reset');
    if (response && !talker) add(response, [], false);
    else if (current < requests.length)
      responses.push({ startLine: `closed ${goaway ?? ''}`, headers: [], body: '', trailers: [], complete: true });
    finish();
  });
  await Promise.race([once(socket, opened), done]);
  await Promise.race([settings.promise, done]);
  sendNext();
  await done;
  clearTimeout(late);
  socket.destroy();
  if (failed) throw new Error(`${failed.message} after ${JSON.stringify(responses)}`);
  return {
    responses,
    heard: talker && { text: talker.text, end: talker.end },
    stops: [...stops.values()],
    closed: goaway !== undefined || hasEnded,
  };
}

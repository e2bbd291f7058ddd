import { request as httpRequest, type OutgoingHttpHeaders } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { setTimeout as wait } from 'node:timers/promises';
import { timeoutSignal, type RequestRecording } from '@edge-gateway/core';
import { cliError } from '../error-codes.ts';
import type { WrittenRequest } from '../explain/request-arguments.ts';
import { dig, text } from '../resources/objects.ts';
import { badAnswer, parseJson, type Connection } from './connection.ts';

/** Maximum time until a record is complete after its response, in milliseconds. */
const RECORD_TIMEOUT_MS = 5000;
const POLL_MS = 20;

/** Where and how a request is sent. */
export interface TracedRequest extends WrittenRequest {
  readonly body: string | undefined;
  /** Address of the listener. */
  readonly connectTo: { readonly host: string; readonly port: number };
  /** False accepts any certificate. */
  readonly verify: boolean;
  /** Maximum time until the end of the response, in milliseconds. */
  readonly timeoutMs: number;
}

/** Sends one request through a gateway, and returns what the proxy recorded about it. */
export async function traceRequest(connection: Connection, request: TracedRequest): Promise<RequestRecording> {
  const { token, header } = await createToken(connection);
  await sendRequest(request, { [header]: token });
  return readRecording(connection, token);
}

async function createToken(connection: Connection): Promise<{ token: string; header: string }> {
  const page = { base: connection.proxyAdmin, flag: '--proxy-admin', path: '/trace' } as const;
  const response = parseJson(await connection.proxy('/trace', 'POST').catch(explainMissing), page);
  const [token, header] = [text(response, 'token'), text(response, 'header')];
  if (token === '' || header === '') throw badAnswer(page);
  return { token, header };
}

function explainMissing(error: Error): never {
  if (!error.message.includes('answered 404')) throw error;
  throw cliError('ERR_CLI_REFUSED', 'the proxy records no requests: it is older than this command', error);
}

/** Resolves at the end of the response, which is not read any further. */
async function sendRequest(request: TracedRequest, extra: OutgoingHttpHeaders): Promise<void> {
  const url = new URL(request.url);
  const isTls = url.protocol === 'https:';
  const { host, port } = request.connectTo;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const options = {
    host: host.replace(/^\[(.*)\]$/, '$1'),
    port,
    method: request.method,
    path: `${url.pathname}${url.search}`,
    headers: { host: url.host, ...singleValues(request.headers), ...extra },
    agent: false as const,
    signal: timeoutSignal(request.timeoutMs),
    ...(isTls && { servername: url.hostname, rejectUnauthorized: request.verify }),
  };
  const sent = (isTls ? httpsRequest : httpRequest)(options, (response) => {
    response.resume();
    response.once('close', resolve);
  });
  // An upgraded connection and a tunnel are closed at once: only their head is of interest.
  for (const event of ['upgrade', 'connect'] as const)
    sent.once(event, (_response, socket: { destroy(): void }) => {
      socket.destroy();
      resolve();
    });
  sent.once('error', (error: NodeJS.ErrnoException) => {
    const isLate = error.name === 'AbortError' || error.name === 'TimeoutError';
    const why = isLate ? `no complete response within ${request.timeoutMs / 1000} s` : (error.code ?? error.message);
    reject(cliError('ERR_CLI_UNREACHABLE', `the request to ${host}:${port} failed: ${why}`, error));
  });
  sent.end(request.body);
  await promise;
}

/** Lists with one value as text: Node accepts some headers, such as `Host`, only in this form. */
function singleValues(headers: TracedRequest['headers']): OutgoingHttpHeaders {
  return Object.fromEntries(
    Object.entries(headers).map(([name, values]) => [name, values.length > 1 ? values : values[0]]),
  );
}

/** A record is complete shortly after the response. */
async function readRecording(connection: Connection, token: string): Promise<RequestRecording> {
  const path = `/trace?token=${encodeURIComponent(token)}`;
  const page = { base: connection.proxyAdmin, flag: '--proxy-admin', path: '/trace' } as const;
  for (const deadline = performance.now() + RECORD_TIMEOUT_MS; performance.now() < deadline; await wait(POLL_MS)) {
    const response = parseJson(await connection.proxy(path), page);
    if (text(response, 'state') === 'done') return dig(response, 'recording') as RequestRecording;
    if (text(response, 'state') !== 'pending') throw badAnswer(page);
  }
  const message =
    'the proxy has no record of the request; did it reach another proxy? Compare --proxy-admin and --connect';
  throw cliError('ERR_CLI_NOT_FOUND', message);
}

import { parseJson, type UpstreamResponse } from '@edge-gateway/core';
import type { ApiResult } from '../execute/executable-api.ts';
import { isTextDeeper, MAX_RESULT_DEPTH } from '../document/json.ts';
import { createEventReader, type StreamEvent } from './event-reader.ts';
import { readRemoteAnswer, readResult } from './remote-answer.ts';
import { bodyOf } from './remote-request.ts';
import { TransportRejected, type Stream, type StreamServer, type SubscribeAt } from './stream.ts';

type StreamHead = Omit<UpstreamResponse, 'body'>;

/** Statuses of servers that do not support subscriptions over HTTP, or not as events. */
const ELSEWHERE = new Set([400, 404, 405, 406, 415, 426, 501]);
const HEADERS = [
  'content-type',
  'application/json',
  'accept',
  'text/event-stream, application/json;q=0.9',
  'accept-encoding',
  'identity',
];

/** Subscribes over `text/event-stream` (GraphQL over SSE, distinct connections mode), or accepts a single result. */
export function subscribeByEvents({ callUpstream, upstream, limits, targetOf }: StreamServer): SubscribeAt {
  const { name } = upstream;
  return async (stream) => {
    const reading = createReading(stream, limits.maxResponseBytes);
    const { path, headers } = targetOf(stream.request);
    const answer = await callUpstream(upstream, {
      method: 'POST',
      path,
      headers: [...HEADERS, ...headers],
      body: bodyOf(stream.request),
      timeoutMs: limits.maxConnectionMs || Infinity,
      maxBodyBytes: limits.maxResponseBytes,
      signal: reading.signal,
      onData: reading.onData,
    }).catch((error: unknown) => {
      if (!reading.finished) throw reading.broken ?? error;
    });
    if (reading.broken !== undefined) throw reading.broken;
    if (!answer || reading.finished || isEvents(answer)) return;
    const whole = { ...answer, body: Buffer.concat(reading.plain) };
    const { status } = answer;
    if (status > 299 && !ELSEWHERE.has(status))
      return stream.push(readRemoteAnswer(name, whole, limits.maxResponseBytes), 0);
    const result = resultIn(name, whole, limits.maxResponseBytes);
    if (result?.data === undefined) throw new TransportRejected(`${name} returned status ${status}, no events`, result);
    stream.push(result, whole.body.length);
  };
}

function resultIn(upstream: string, answer: UpstreamResponse, maxBytes: number): ApiResult | undefined {
  try {
    return readRemoteAnswer(upstream, answer, maxBytes);
  } catch {
    return undefined;
  }
}

function isEvents({ status, headers }: StreamHead): boolean {
  return status === 200 && /^text\/event-stream\b/i.test(headers['content-type'] ?? '');
}

function createReading(stream: Stream, maxBytes: number) {
  const ended = new AbortController();
  const read = createEventReader(maxBytes);
  const plain: Buffer[] = [];
  let size = 0;
  let events: boolean | undefined;

  function push({ event, data }: StreamEvent): void {
    if (event === 'complete') {
      reading.finished = true;
      ended.abort();
    } else if (event === 'next' || event === 'message') {
      if (isTextDeeper(data, MAX_RESULT_DEPTH)) throw new Error('an event is nested too deep');
      stream.push(readResult(parseJson(data)), data.length);
    }
  }

  function receive(chunk: Buffer, head: StreamHead): void {
    if (events === undefined && (events = isEvents(head))) stream.accepted();
    if (!events) {
      if ((size += chunk.length) > maxBytes) throw new Error(`more than ${maxBytes} bytes`);
      plain.push(chunk);
      return;
    }
    const { 'content-encoding': coding = 'identity' } = head.headers;
    if (coding !== 'identity') throw new Error(`the events have the content-encoding ${coding}`);
    for (const event of read(chunk)) if (!reading.finished) push(event);
  }

  const reading = {
    plain,
    finished: false,
    broken: undefined as unknown,
    signal: AbortSignal.any([stream.signal, ended.signal]),
    onData(chunk: Buffer, head: StreamHead): void {
      try {
        if (!reading.signal.aborted) receive(chunk, head);
      } catch (error) {
        reading.broken = error;
        ended.abort();
      }
    },
  };
  return reading;
}

import type { IncomingHttpHeaders } from 'node:http2';
import { Http2Link, http2Headers } from './http2-link.ts';
import { activeFailure, networkFailure, type CheckResult, type Probe, type ProbeTarget } from './probe.ts';

/** Path of the method that gRPC defines for health checks. */
const GRPC_HEALTH_PATH = '/grpc.health.v1.Health/Check';

const SERVING = 1;
/** Names of `HealthCheckResponse.ServingStatus`. */
const STATUS_NAMES = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'];
const MAX_MESSAGE = 64 * 1024;

/** Encodes a `HealthCheckRequest` as a message of a gRPC stream: no compression, length, field 1 with the service. */
export function encodeHealthRequest(service: string): Buffer {
  const name = Buffer.from(service);
  const field = name.length === 0 ? name : Buffer.concat([Buffer.of(0x0a), varint(name.length), name]);
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(field.length, 1);
  return Buffer.concat([prefix, field]);
}

/** Returns the serving status of an encoded `HealthCheckResponse`; `undefined` if it is malformed. */
export function decodeHealthResponse(data: Buffer): number | undefined {
  if (data.length < 5 || data[0] !== 0 || data.readUInt32BE(1) !== data.length - 5) return undefined;
  let status = 0;
  for (let at = 5; at < data.length;) {
    const tag = readVarint(data, at);
    if (!tag) return undefined;
    const value = readVarint(data, tag.end);
    if (!value) return undefined;
    const type = tag.value & 7;
    if (type === 0) at = value.end;
    else if (type === 2) at = value.end + value.value;
    else return undefined;
    if (tag.value === 0x08) status = value.value;
    if (at > data.length) return undefined;
  }
  return status;
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  return Buffer.from([...bytes, rest]);
}

function readVarint(data: Buffer, start: number): { readonly value: number; readonly end: number } | undefined {
  let value = 0;
  for (let i = 0; i < 5; i++) {
    const byte = data[start + i];
    if (byte === undefined) return undefined;
    value += (byte & 0x7f) * 2 ** (7 * i);
    if (byte < 0x80) return { value, end: start + i + 1 };
  }
  return undefined;
}

export interface GrpcProbeParts extends Pick<ProbeTarget, 'connect' | 'tls'> {
  /** Returns the flat headers of a check, including `host`. */
  readonly headers: () => readonly string[];
  readonly message: Buffer;
  readonly reuse: boolean;
}

/** Checks by `grpc.health.v1.Health/Check`. */
export class GrpcProbe implements Probe {
  readonly #parts: GrpcProbeParts;
  readonly #link: Http2Link;
  #done: ((result: CheckResult) => void) | undefined;

  constructor(parts: GrpcProbeParts) {
    this.#parts = parts;
    this.#link = new Http2Link(parts.connect, parts.tls, parts.reuse);
  }

  run(done: (result: CheckResult) => void): void {
    this.#done = done;
    const headers = http2Headers('POST', GRPC_HEALTH_PATH, this.#parts.headers());
    delete headers['content-length'];
    let head: IncomingHttpHeaders = {};
    let trailers: IncomingHttpHeaders = {};
    const chunks: Buffer[] = [];
    let length = 0;
    this.#link.send({
      headers: { ...headers, 'content-type': 'application/grpc', te: 'trailers' },
      body: this.#parts.message,
      onFailure: (error) => this.#fail(error),
      onStream: (stream) => {
        stream.on('response', (received) => (head = received));
        stream.on('trailers', (received) => (trailers = received));
        stream.on('data', (chunk: Buffer) => {
          length += chunk.length;
          if (length <= MAX_MESSAGE) chunks.push(chunk);
        });
        stream.on('end', () => {
          if (head[':status'] === undefined) return this.#fail(new Error('no response'));
          this.#link.release();
          this.#finish(resultOf(head, trailers, Buffer.concat(chunks)));
        });
      },
    });
  }

  cancel(): void {
    this.#done = undefined;
    this.close();
  }

  close(): void {
    this.#link.close();
  }

  #fail(error: Error): void {
    if (!this.#done) return;
    this.#link.close();
    this.#finish(networkFailure(error));
  }

  #finish(result: CheckResult): void {
    const done = this.#done;
    this.#done = undefined;
    done?.(result);
  }
}

function resultOf(head: IncomingHttpHeaders, trailers: IncomingHttpHeaders, data: Buffer): CheckResult {
  if (Number(head[':status']) !== 200) return activeFailure(`HTTP status ${head[':status']}`);
  const status = String(trailers['grpc-status'] ?? head['grpc-status'] ?? '');
  if (status !== '0') return activeFailure(status === '' ? 'no gRPC status' : `gRPC status ${status}`);
  const serving = decodeHealthResponse(data);
  if (serving === SERVING) return head['x-envoy-degraded'] === undefined ? 'healthy' : 'degraded';
  return activeFailure(
    serving === undefined ? 'malformed gRPC message' : (STATUS_NAMES[serving] ?? `status ${serving}`),
  );
}

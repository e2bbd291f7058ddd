import { http2Headers } from './http2-link.ts';
import { Http2Probe, type Http2Response } from './http2-probe.ts';
import { activeFailure, type CheckResult, type Probe, type ProbeTarget } from './probe.ts';

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

/** Creates the probe that checks by `grpc.health.v1.Health/Check`. */
export function grpcProbe({ headers, message, ...link }: GrpcProbeParts): Probe {
  return new Http2Probe({
    ...link,
    maxBytes: MAX_MESSAGE,
    request() {
      const { 'content-length': _, ...sent } = http2Headers('POST', GRPC_HEALTH_PATH, headers());
      return { headers: { ...sent, 'content-type': 'application/grpc', te: 'trailers' }, body: message };
    },
    resultOf,
  });
}

function resultOf({ head, trailers, body }: Http2Response): CheckResult {
  if (Number(head[':status']) !== 200) return activeFailure(`HTTP status ${head[':status']}`);
  const status = String(trailers['grpc-status'] ?? head['grpc-status'] ?? '');
  if (status !== '0') return activeFailure(status === '' ? 'no gRPC status' : `gRPC status ${status}`);
  const serving = decodeHealthResponse(body);
  if (serving === SERVING) return head['x-envoy-degraded'] === undefined ? 'healthy' : 'degraded';
  return activeFailure(
    serving === undefined ? 'malformed gRPC message' : (STATUS_NAMES[serving] ?? `status ${serving}`),
  );
}

import { fromBinary, toJson } from '@bufbuild/protobuf';
import { AnySchema } from '@bufbuild/protobuf/wkt';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { findHeader } from '../http1/flat-headers.ts';
import { printed, type JsonFormat } from './response-message.ts';

/** HTTP statuses by gRPC status (`google.rpc.Code`). */
const HTTP_STATUSES = [200, 499, 500, 400, 504, 404, 409, 403, 429, 400, 409, 400, 501, 500, 503, 500, 401];

/** Headers and trailers with the status of a call. */
export const STATUS_HEADERS: ReadonlySet<string> = new Set(['grpc-status', 'grpc-message', 'grpc-status-details-bin']);

/** The status of a call. */
export interface CallStatus {
  readonly code: number;
  /** As on the wire, percent-encoded; missing if there is none. */
  readonly message: string | undefined;
  /** A serialised `google.rpc.Status` as base64. */
  readonly details: string | undefined;
}

/** Returns the status in flat trailers, or in the head of a response without any; `undefined` without a valid one. */
export function callStatusOf(flat: readonly string[]): CallStatus | undefined {
  const code = findHeader(flat, 'grpc-status');
  if (code === undefined || !/^\d{1,9}$/.test(code)) return undefined;
  return {
    code: Number(code),
    message: findHeader(flat, 'grpc-message'),
    details: findHeader(flat, 'grpc-status-details-bin'),
  };
}

/** Returns the HTTP status of a gRPC status. */
export function httpStatusOf(code: number): number {
  return HTTP_STATUSES[code] ?? 500;
}

/** Returns a status as the JSON of a `google.rpc.Status`: that of the details, or of code and message. */
export function statusJson({ code, message = '', details }: CallStatus, format: JsonFormat): string {
  const written = details === undefined ? undefined : readDetails(details, format);
  return printed(written ?? { code, ...(message !== '' && { message: percentDecoded(message) }) }, format);
}

/** Reads a `google.rpc.Status`; `undefined` for invalid bytes. */
function readDetails(base64: string, format: JsonFormat): object | undefined {
  const status: { code?: number; message?: string; details?: unknown[] } = {};
  try {
    const reader = new BinaryReader(Buffer.from(base64, 'base64'));
    while (reader.pos < reader.len) {
      const [field, wireType] = reader.tag();
      if (field === 1 && wireType === WireType.Varint) status.code = reader.int32();
      else if (field === 2 && wireType === WireType.LengthDelimited) status.message = reader.string();
      else if (field === 3 && wireType === WireType.LengthDelimited)
        (status.details ??= []).push(toJson(AnySchema, fromBinary(AnySchema, reader.bytes()), format));
      else reader.skip(wireType, field);
    }
  } catch {
    return undefined;
  }
  return status;
}

/** Decodes the escapes of `grpc-message`; bytes that are not UTF-8 are replaced. */
function percentDecoded(text: string): string {
  const bytes = text.replace(/%([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

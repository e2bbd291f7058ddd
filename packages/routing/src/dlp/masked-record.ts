import { ExactNumber, fromByteString, toByteString, type LogMask } from '@edge-gateway/core';
import type { RequestRecord } from '../format/record.ts';

/** Every field, so that a new one cannot be forgotten here. */
type AllFields = { readonly [K in keyof Required<RequestRecord>]: RequestRecord[K] };

/**
 * Returns the record of a request for access logs: values of headers, metadata and the path are masked. Every log uses it, so that no
 * format shows what is masked.
 */
export function maskRecord(record: RequestRecord, mask: LogMask): RequestRecord {
  const { head, result } = record;
  const named = (flat: readonly string[]): string[] =>
    flat.map((text, i) => (i % 2 === 0 ? text : mask.maskNamed(flat[i - 1]!, text)));
  const path = (text: string): string => mask.maskNamed(':path', text);
  return {
    startedAt: record.startedAt,
    connection: record.connection,
    route: record.route,
    trace: record.trace,
    head: {
      method: head.method,
      authority: head.authority,
      requestId: head.requestId,
      clientAddress: head.clientAddress,
      path: path(head.path),
      pathname: path(head.pathname),
      originalPath: path(head.originalPath),
      headers: named(head.headers),
    },
    result: {
      ...result,
      responseHeaders: named(result.responseHeaders),
      responseTrailers: named(result.responseTrailers),
    },
    metadata: new Map(
      Array.from(record.metadata, ([namespace, values]) => [namespace, maskValues(values, mask) as typeof values]),
    ),
  } satisfies AllFields;
}

function maskValues(value: unknown, mask: LogMask, key = ''): unknown {
  if (typeof value === 'string') return fromByteString(mask.maskNamed(key, toByteString(value)));
  if (typeof value === 'number' || value instanceof ExactNumber) {
    const masked = mask.maskNamed(key, String(value));
    return masked === String(value) ? value : masked;
  }
  if (Array.isArray(value)) return value.map((each) => maskValues(each, mask, key));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, maskValues(each, mask, name)]));
}

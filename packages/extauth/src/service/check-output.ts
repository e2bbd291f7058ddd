import { isUtf8 } from 'node:buffer';
import type { HeaderChange } from '@edge-gateway/core';
import { toStruct } from '@edge-gateway/core/grpc';
import { configError } from '../error-codes.ts';
import {
  ADD_IF_ABSENT,
  APPEND,
  INTENDED_SUCCESS,
  OVERWRITE,
  OVERWRITE_IF_EXISTS,
  type CheckResponse,
  type HeaderOption,
} from '../grpc/protocol.ts';
import type { Grant, Verdict } from './verdict.ts';

/** Codes of gRPC for a rejected request. */
const PERMISSION_DENIED = 7;
const UNAUTHENTICATED = 16;

/** Returns the message with the decision about a request. Throws `ERR_EXTAUTH_CONFIG` for a header that the message cannot carry. */
export function checkResponseOf(verdict: Verdict): CheckResponse {
  if (verdict.allowed) return okResponseOf(verdict);
  const { status, headers, body, metadata } = verdict;
  const code = status === 401 ? UNAUTHENTICATED : PERMISSION_DENIED;
  return {
    status: { code, message: status < 300 ? INTENDED_SUCCESS : '' },
    httpResponse: 'deniedResponse',
    deniedResponse: { status: { code: status }, headers: deniedHeaders(headers), body: String(body) },
    ...(metadata && { dynamicMetadata: toStruct(metadata) }),
  };
}

function okResponseOf({ set, remove, query, responseChanges, metadata }: Grant): CheckResponse {
  const hasMetadata = Object.keys(metadata).length > 0;
  return {
    status: { code: 0, message: '' },
    httpResponse: 'okResponse',
    okResponse: {
      // Every version of Envoy replaces a header with this deprecated field.
      headers: [...set].map(([key, value]) => ({
        header: { key, value: textOf(key, value) },
        append: { value: false },
      })),
      headersToRemove: remove,
      responseHeadersToAdd: responseChanges.flatMap(responseHeader),
      queryParametersToSet: [...query.set].map(([key, value]) => ({ key, value })),
      queryParametersToRemove: query.remove,
    },
    ...(hasMetadata && { dynamicMetadata: toStruct(metadata) }),
  };
}

/** A header of the response to the client. No message removes one. */
function responseHeader(change: HeaderChange): HeaderOption[] {
  if (change.op === 'remove') return [];
  const header = { key: change.name, value: textOf(change.name, change.value) };
  if (change.op === 'append') return [{ header, appendAction: APPEND }];
  const where = change.where === 'absent' ? ADD_IF_ABSENT : OVERWRITE_IF_EXISTS;
  return [{ header, appendAction: change.where === undefined ? OVERWRITE : where }];
}

/** The first value of a header replaces what Envoy sets itself, such as `content-type`; the others are added. */
function deniedHeaders(flat: readonly string[]): HeaderOption[] {
  const seen = new Set<string>();
  const options: HeaderOption[] = [];
  for (let i = 0; i < flat.length; i += 2) {
    const key = flat[i]!.toLowerCase();
    const appendAction = seen.has(key) ? APPEND : OVERWRITE;
    seen.add(key);
    options.push({ header: { key, value: textOf(key, flat[i + 1]!) }, appendAction });
  }
  return options;
}

/** Converts the bytes of a header to the text of the protocol, which is UTF-8. */
function textOf(name: string, value: string): string {
  // oxlint-disable-next-line no-control-regex
  if (/^[\u0000-\u007f]*$/.test(value)) return value;
  const bytes = Buffer.from(value, 'latin1');
  if (!isUtf8(bytes)) throw configError(`the value of the header ${name} is not UTF-8`);
  return bytes.toString('utf8');
}

import { ExactNumber, type AuthRequest } from '@edge-gateway/core';
import { checkRequestOf } from '../grpc/check-request.ts';

interface InputParts {
  /** `<namespace>.<name>/<step>`. */
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Keeps only scalars, maps and lists of strings (`fastInputConversion`). */
  readonly isFast: boolean;
}

/** Returns the document that policies read as `input`: the check request, its HTTP request, and the state of earlier steps (`null` without any). */
export function inputOf(request: AuthRequest, { id, now, isFast }: InputParts): object {
  const context_extensions = { ...request.contextExtensions, config_id: id.slice(0, id.indexOf('/') >>> 0) };
  const { attributes } = checkRequestOf(request, {
    contextExtensions: context_extensions,
    metadata: new Map(),
    time: now,
  });
  const { rawBody, ...rest } = attributes.request.http as typeof attributes.request.http & { rawBody?: Buffer };
  const http = { ...rest, ...(rawBody && { raw_body: Buffer.from(rawBody).toString('base64') }) };
  const { connection, clientAddress } = request;
  const input = {
    check_request: {
      attributes: {
        source: peerOf(clientAddress, connection?.clientPort),
        destination: peerOf(connection?.localAddress, connection?.localPort),
        request: { time: new Date(now).toISOString(), http },
        context_extensions,
        metadata_context: { filter_metadata: Object.fromEntries(request.metadata) },
      },
    },
    http_request: http,
    state: Object.keys(request.state).length > 0 ? request.state : null,
  };
  return isFast ? (simplified(input) as object) : input;
}

function peerOf(address = '', port_value = 0): object {
  return { address: { socket_address: { address, port_value } } };
}

/** Drops lists with anything but strings. */
function simplified(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return value;
  if (Array.isArray(value)) return value.every((each) => typeof each === 'string') ? value : undefined;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, each]) => {
      const kept = simplified(each);
      return kept === undefined ? [] : [[name, kept]];
    }),
  );
}

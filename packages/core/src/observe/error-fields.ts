import { stdSerializers } from 'pino';

/** Codes of the system, of TLS and of HTTP clients for peers that are away, slow or not trusted. */
const NETWORK_CODE =
  /^(?:E(?!RR_)[A-Z_]+$|UND_ERR_|ERR_(?:TLS|SSL|HTTP2|SOCKET|STREAM_PREMATURE)|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/;
const TIMEOUTS = new Set(['AbortError', 'TimeoutError']);
/** Statuses of gRPC: deadline exceeded, unavailable. */
const GRPC_OUTAGES: ReadonlySet<unknown> = new Set([4, 14]);
const MAX_CAUSES = 8;

/**
 * Returns an error as fields of a log line. What operators must expect has no stack trace: a peer that is away, slow or not trusted, and a rejection
 * with a status other than 500. Any other error is a defect, whose stack is needed.
 */
export function errorFields(error: Error): object {
  const fields = stdSerializers.err(error) as object;
  if (!isExpected(error)) return fields;
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !DETAILS.has(name)));
}

const DETAILS = new Set(['stack', 'aggregateErrors', 'raw']);

function isExpected(error: unknown): boolean {
  let cause = error;
  for (let depth = 0; cause instanceof Error && depth < MAX_CAUSES; depth++) {
    const { code, name, status } = cause as { code?: unknown; name: string; status?: unknown };
    if (typeof code === 'string' && NETWORK_CODE.test(code)) return true;
    if (TIMEOUTS.has(name) || (GRPC_OUTAGES.has(code) && 'details' in cause)) return true;
    if (typeof code === 'string' && typeof status === 'number' && status !== 500) return true;
    cause = cause.cause;
  }
  return false;
}

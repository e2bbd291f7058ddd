import type { IncomingMessage } from 'node:http';
import type { AccessLoggingService } from '@edge-gateway/core/schema';
import type { RequestResult } from '../format/record.ts';
import { hasBody } from '../http1/request-body.ts';

const OPERATORS = /%REQUEST_DURATION|DS_RX_END/;

/** Returns true if an access log has the time at which requests are complete. */
export function logsRequestEnd(service: AccessLoggingService | undefined): boolean {
  const logs = service?.accessLog ?? [];
  return logs.some((log) => log.grpcService !== undefined || OPERATORS.test(JSON.stringify(log)));
}

/** Records when the last byte of a request is received; `elapsed` returns the milliseconds since it began. */
export function recordRequestEnd(req: IncomingMessage, result: RequestResult, elapsed: () => number): void {
  // It begins when its head is complete.
  if (!hasBody(req)) result.receivedMs = 0;
  else if (req.readableEnded) result.receivedMs = elapsed();
  else req.once('end', () => (result.receivedMs = elapsed()));
}

import type { RecordedResult } from '../format/record.ts';

const NO_HEADERS: readonly string[] = [];

/** What is recorded of a request until it ends. */
export class RequestResult implements RecordedResult {
  status = 0;
  responseHeaders = NO_HEADERS;
  details = '';
  flags = '';
  upstreamHost = '';
  bytesReceived = 0;
  bytesSent = 0;
  upstreamMs = -1;
  durationMs = 0;
}

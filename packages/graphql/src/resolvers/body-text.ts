import { decodeContent, type UpstreamResponse } from '@edge-gateway/core';

/** Returns the body of a response as text. Throws an `Error` if its encoding is not supported, or it has more than `maxBytes`. */
export function bodyText({ headers, body }: Pick<UpstreamResponse, 'headers' | 'body'>, maxBytes: number): string {
  return decodeContent(body, headers['content-encoding'], maxBytes).toString('utf8');
}

import { METHODS, type IncomingMessage } from 'node:http';
import { isHeaderBytes } from '@edge-gateway/core';
import { refusal, type Refusal } from './refusal.ts';

const KNOWN_METHODS: ReadonlySet<string> = new Set(METHODS);
const TARGET = /^[\u0021-\u007e]*$/;

/** Repeats the checks of the parser of `node:http` for a request that it has not parsed. */
export function checkSyntax({
  method = '',
  url = '',
  rawHeaders,
}: Pick<IncomingMessage, 'method' | 'url' | 'rawHeaders'>): Refusal | undefined {
  if (!KNOWN_METHODS.has(method)) return refusal('ERR_ROUTING_BAD_METHOD', { detail: 'Invalid method encountered' });
  if (!TARGET.test(url)) return refusal('ERR_ROUTING_BAD_TARGET', { detail: 'Invalid char in url path' });
  for (let i = 1; i < rawHeaders.length; i += 2) {
    if (!isHeaderBytes(rawHeaders[i]!))
      return refusal('ERR_ROUTING_BAD_HEADER', { detail: 'Invalid header value char' });
  }
  return undefined;
}

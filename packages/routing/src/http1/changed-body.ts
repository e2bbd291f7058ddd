import type { HeaderChange } from '@edge-gateway/core';
import { findHeader } from './flat-headers.ts';

/** Headers that describe the bytes of a body. */
const DESCRIBING = ['content-md5', 'digest', 'content-digest', 'repr-digest', 'accept-ranges', 'content-range'];

/** Returns the changes of the headers, flat, of a message whose body is changed: those that no longer hold are removed, also a strong `etag`. */
export function changesOfBody(headers: readonly string[]): HeaderChange[] {
  const etag = findHeader(headers, 'etag');
  const isStrong = etag !== undefined && !etag.startsWith('W/');
  return [...DESCRIBING, ...(isStrong ? ['etag'] : [])].map((name) => ({ op: 'remove' as const, name }));
}

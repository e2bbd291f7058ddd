import type { Logger } from '@edge-gateway/core';
import { DEFAULT_LIMITS, type ListenLimits } from '../limits.ts';
import { findMissingInternals } from './plain-internals.ts';
import { isSupportedPlatform } from './user-buffer.ts';

/**
 * Returns the limits with a parser of HTTP/1.1 that works with this version of Node: that of `node:http`, with a warning, if the
 * internals that the other one requires have changed.
 */
export function withUsableParser(
  limits: Partial<ListenLimits>,
  log: Pick<Logger, 'warn'>,
  findMissing: () => readonly string[] = findMissingInternals,
): Partial<ListenLimits> {
  const { http1Parser = DEFAULT_LIMITS.http1Parser } = limits;
  if (http1Parser === 'node') return limits;
  const missing = isSupportedPlatform ? findMissing() : [];
  if (isSupportedPlatform && missing.length === 0) return limits;
  if (missing.length > 0)
    log.warn(
      { node: process.version, missing },
      'plain HTTP/1.1 parser does not support this version of Node.js, using node:http',
    );
  return { ...limits, http1Parser: 'node' };
}

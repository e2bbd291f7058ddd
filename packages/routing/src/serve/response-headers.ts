import type { HeaderChange } from '@edge-gateway/core';
import { hasHeader, removeHeader, removeWhere, setHeader } from '../http1/flat-headers.ts';
import { isHopByHop } from '../http1/hop-by-hop.ts';
import { ATTEMPT_COUNT } from '../route/options/attempts.ts';
import type { ManagerSettings } from '../route/options/manager-settings.ts';

/** Adds the response time of the upstream, in milliseconds. */
export function addServiceTime(flat: string[], settings: ManagerSettings, upstreamMs: number): void {
  if (settings.suppressEnvoyHeaders) return;
  setHeader(flat, 'x-envoy-upstream-service-time', String(Math.max(0, Math.round(upstreamMs))));
}

/** Adds the number of attempts, if there was one. */
export function addAttemptCount(flat: string[], attempts: number): void {
  if (attempts > 0) setHeader(flat, ATTEMPT_COUNT, String(attempts));
}

/** Adds the last headers of every response, in place: `via` and `server`. */
export function finishResponse(flat: string[], settings: ManagerSettings): void {
  if (settings.via !== '') flat.push('via', settings.via);
  if (settings.serverHeader === 'overwrite') setHeader(flat, 'server', settings.serverName);
  else if (settings.serverHeader === 'appendIfAbsent' && !hasHeader(flat, 'server')) {
    flat.push('server', settings.serverName);
  }
}

/** Applies the changes of concerns, except those of framing. */
export function applyRecorded(flat: string[], changes: readonly HeaderChange[]): void {
  for (const change of changes) {
    const { op, name } = change;
    if (isHopByHop(name) || name === 'content-length') continue;
    if (op === 'remove') removeHeader(flat, name);
    else if (op === 'append') flat.push(name, change.value);
    else if (!change.where || hasHeader(flat, name) === (change.where === 'present'))
      setHeader(flat, name, change.value);
  }
}

/** Removes headers that some servers treat as one of these names because they ignore the difference of `_` and `-`. */
export function removeLookalikes(flat: string[], names: readonly string[]): void {
  removeWhere(flat, (name) => name.includes('_') && names.includes(name.replaceAll('_', '-')));
}

import type { HeaderChange } from '@edge-gateway/core';
import { hasHeader, removeHeader, removeWhere, setHeader } from '../http1/flat-headers.ts';
import { isHopByHop } from '../http1/hop-by-hop.ts';
import type { ManagerSettings } from '../route/options/manager-settings.ts';

/** Adds the response time of the upstream, in milliseconds. */
export function addServiceTime(flat: string[], settings: ManagerSettings, upstreamMs: number): void {
  if (settings.suppressEnvoyHeaders) return;
  setHeader(flat, 'x-envoy-upstream-service-time', String(Math.max(0, Math.round(upstreamMs))));
}

/** What every response gets last, in place: `via` and `server`. */
export function finishResponse(flat: string[], settings: ManagerSettings): void {
  if (settings.via !== '') flat.push('via', settings.via);
  if (settings.serverHeader === 'overwrite') setHeader(flat, 'server', settings.serverName);
  else if (settings.serverHeader === 'appendIfAbsent' && !hasHeader(flat, 'server')) {
    flat.push('server', settings.serverName);
  }
}

/** Applies changes that concerns recorded; framing is not theirs to change. */
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

/** Removes what some servers would read as one of these names, though it is spelt with underscores. */
export function removeLookalikes(flat: string[], names: readonly string[]): void {
  removeWhere(flat, (name) => name.includes('_') && names.includes(name.replaceAll('_', '-')));
}

import { redact, type ControlPlaneState, type Snapshot } from '@edge-gateway/core';
import { lazily } from '../http/json-chunks.ts';
import { nodeKey } from './node-key.ts';
import type { ControlEndpointFactory } from './endpoint.ts';
import { snapshotAnswer } from './snapshot-answer.ts';

/** `/snapshots/xds`: what each data plane gets, by node key. */
export const snapshotsXds: ControlEndpointFactory = ({ state }) => ({
  paths: ['/snapshots/xds'],
  help: 'the snapshot of each data plane',
  get: () => snapshotAnswer(state(), (current) => ({ data: xdsSnapshots(current) })),
});

/** Node key (`gw-system~<proxy>`) → snapshot, with credentials redacted. */
export function xdsSnapshots({ snapshots }: ControlPlaneState): Record<string, object> {
  return Object.fromEntries([...snapshots].map(([proxy, snapshot]) => [nodeKey(proxy), shown(snapshot)]));
}

function shown({ listeners, upstreams, ...rest }: Snapshot): object {
  const shownListeners = lazily(listeners, ({ virtualHosts, ...listener }) => ({
    ...(redact(listener) as object),
    virtualHosts: lazily(virtualHosts, redact),
  }));
  return { ...(redact(rest) as object), listeners: shownListeners, upstreams: lazily(upstreams, redact) };
}

import type { ControlPlaneState } from '@edge-gateway/core';
import { nodeKey } from '../node-key.ts';
import { redact } from '../redact.ts';
import type { ControlEndpointFactory } from './endpoint.ts';
import { snapshotAnswer } from './snapshot-answer.ts';

/** `/snapshots/xds`: what each data plane gets, by node key. */
export const snapshotsXds: ControlEndpointFactory = ({ state }) => ({
  paths: ['/snapshots/xds'],
  help: 'what each data plane gets',
  get: () => snapshotAnswer(state(), (current) => ({ data: xdsSnapshots(current) })),
});

/** Node key (`gw-system~<proxy>`) → snapshot. */
export function xdsSnapshots({ snapshots }: ControlPlaneState): Record<string, unknown> {
  return Object.fromEntries([...snapshots].map(([proxy, snapshot]) => [nodeKey(proxy), redact(snapshot)]));
}

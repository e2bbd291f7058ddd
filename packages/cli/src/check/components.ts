import type { ResourceRef } from '@edge-gateway/core';
import type { Connection } from '../gateway/connection.ts';
import { items, text } from '../resources/objects.ts';

/** One part of the running gateway, as `GET /components` lists it. */
export interface RunningComponent {
  readonly name: string;
  readonly kind: string;
  /** `ready` is good. */
  readonly state: string;
  readonly reason: string;
  /** The resources with the problem that is the reason. */
  readonly resources: readonly (ResourceRef & { readonly kind: string })[];
  /** Names of the listeners without which it is not ready. */
  readonly waitsFor: readonly string[];
}

/** Reads the parts of a running gateway; `undefined` if it does not list them. */
export async function readComponents(connection: Connection): Promise<RunningComponent[] | undefined> {
  const response: unknown = await connection.control('/components').catch(() => undefined);
  if (response === undefined) return undefined;
  return items(response).map((one) => ({
    name: text(one, 'name'),
    kind: text(one, 'kind'),
    state: text(one, 'state'),
    reason: text(one, 'reason'),
    resources: items(one, 'resources').map((each) => ({
      kind: text(each, 'kind'),
      namespace: text(each, 'namespace'),
      name: text(each, 'name'),
    })),
    waitsFor: items(one, 'waitsFor').map(String),
  }));
}

/** Returns true if a component works. */
export const isReady = ({ state }: RunningComponent): boolean => state === 'ready';

/** Returns true if a component is a listener of a proxy. */
export const isListener = ({ kind }: RunningComponent): boolean => kind === 'listener';

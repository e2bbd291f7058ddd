import { setTimeout as wait } from 'node:timers/promises';
import { validityProblem, type ResourceRef } from '@edge-gateway/core';
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

const INTERVAL_MS = 500;
const REJECTIONS = /^\S*(?:update_rejected|update_failure)$/;

/** Returns whether the running proxy is not ready, not connected, or rejects updates now. */
export async function proxyProblems(connection: Connection): Promise<string[]> {
  const proxy = `The proxy at ${connection.proxyAdmin.origin}`;
  try {
    const ready = (await connection.proxy('/ready')).trim();
    if (ready !== 'LIVE') return [`${proxy} is not ready: ${ready}`];
    const before = await counters(connection);
    if (before.get('control_plane.connected_state') === 0) return [`${proxy} is not connected to its control plane`];
    const counted = [...before].filter(([name]) => REJECTIONS.test(name));
    if (!counted.some(([, value]) => value > 0)) return [];
    await wait(INTERVAL_MS);
    const after = await counters(connection);
    return counted
      .filter(([name, value]) => (after.get(name) ?? value) > value)
      .map(([name]) => `${proxy} rejects updates: ${name} is rising`);
  } catch (error) {
    return [(error as Error).message];
  }
}

/** Returns the certificates of the running proxy's own flags that peers reject because of their dates, now or soon. */
export async function proxyCertificateProblems(connection: Connection, now = Date.now()): Promise<string[]> {
  // The proxy admin of an Envoy has the same page, without flags.
  const page: unknown = await connection.proxy('/certs').then(JSON.parse, () => undefined);
  const certificates = items(page, 'certificates').flatMap((one) => [
    ...items(one, 'cert_chain'),
    ...items(one, 'ca_cert'),
  ]);
  return certificates.flatMap((one) => {
    const path = text(one, 'path');
    const validFromDate = new Date(text(one, 'valid_from'));
    const validToDate = new Date(text(one, 'expiration_time'));
    const problem = path.startsWith('--') ? validityProblem({ validFromDate, validToDate }, now) : undefined;
    return problem === undefined
      ? []
      : [`The proxy at ${connection.proxyAdmin.origin}: certificate of ${path} ${problem}`];
  });
}

async function counters(connection: Connection): Promise<Map<string, number>> {
  const lines = (await connection.proxy('/stats')).matchAll(/^(\S+): (\d+)$/gm);
  return new Map([...lines].map(([, name, value]) => [name!, Number(value)]));
}

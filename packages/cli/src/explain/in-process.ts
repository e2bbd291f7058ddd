import '@edge-gateway/core/supported-node';
import {
  keyOf,
  type ControlPlaneState,
  type HostState,
  type Kind,
  type ResourceKey,
  type Snapshot,
  type UnservedListener,
} from '@edge-gateway/core';
import picocolors from 'picocolors';
import { objectsOf } from '../resources/load.ts';
import { explainServed } from './explain-served.ts';
import { parseClaims, parseRequest } from './request-arguments.ts';

/** The configuration that a gateway in this process serves. */
export interface ServedConfiguration {
  readonly snapshots: readonly Snapshot[];
  /** The resources of the snapshots; missing if this process has none. */
  readonly state?: ControlPlaneState | undefined;
  hostStates?(upstream: string): readonly HostState[] | undefined;
  /** The listeners of a proxy that are not served. */
  unserved(proxy: string): readonly UnservedListener[];
}

/** A request as text, as in the arguments of `gatewayctl explain`. */
export interface RequestText {
  readonly method: string;
  readonly url: string;
  /** `name: value` each. */
  readonly headers?: readonly string[];
  /** A JSON object; assumed to be the claims of a verified token. */
  readonly claims?: string;
  readonly proxy?: string;
}

const NO_COLORS = picocolors.createColors(false);

/**
 * Returns the text of `gatewayctl explain` for a request to a gateway in this process, without secret values. Rejects with
 * `ERR_CLI_USAGE` for an invalid request, and with `ERR_CLI_NOT_FOUND` for an unknown proxy.
 */
export async function explainInProcess(here: ServedConfiguration, asked: RequestText): Promise<string> {
  const { snapshots, state } = here;
  const request = parseRequest(asked.method, asked.url, asked.headers);
  const served = {
    snapshots,
    objects: state ? objectsOf(state, relevantIn(state)) : [],
    problems: state?.issues ?? [],
    secrets: undefined,
    hostStates: here.hostStates && { get: (upstream: string) => here.hostStates!(upstream) },
    readUnserved: async (proxy: string) => here.unserved(proxy),
  };
  const question = { request, claims: parseClaims(asked.claims, 'claims'), proxy: asked.proxy };
  const { text } = await explainServed(served, question);
  return text(NO_COLORS);
}

/** Explanations need gateways and secrets, and resources with problems. */
function relevantIn({ issues, statuses }: ControlPlaneState): (key: ResourceKey) => boolean {
  const withProblems = new Set(
    issues.map(({ kind, namespace = '', name = '' }) => keyOf(kind as Kind, { namespace, name })),
  );
  const isRejected = (key: ResourceKey): boolean =>
    Object.values(statuses.get(key)?.statuses ?? {}).some(({ state }) => state === 'Rejected');
  return (key) => /^(?:Gateway|Secret)\//.test(key) || withProblems.has(key) || isRejected(key);
}

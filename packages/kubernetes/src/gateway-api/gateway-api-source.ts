import { setTimeout as wait } from 'node:timers/promises';
import { DEFAULT_NAMESPACE, memorySource, type Logger, type Source } from '@edge-gateway/core';
import type { ClusterClient } from '../client/cluster-client.ts';
import type { WatchedServices } from '../discovery/cluster-services.ts';
import { objectKey } from '../watch/cluster-object.ts';
import type { ReflectorTiming } from '../watch/reflector.ts';
import { createScheduledWork } from '../watch/scheduled-work.ts';
import { createCertificateSecrets } from './certificate-secrets.ts';
import type { GatewayApiInput } from './gateway-objects.ts';
import { certificateKeys, createGatewayWatch, hasGatewayApi, optionsOf, type GatewayTables } from './gateway-watch.ts';
import { leftStatuses, statusPatch, writeStatus } from './status-patches.ts';
import {
  GATEWAY_NAME_LABEL,
  translateGateways,
  type GatewayApiTranslation,
  type NewStatus,
} from './translate-gateways.ts';
import { usedServices } from './used-services.ts';

export interface GatewayApiOptions {
  readonly client: ClusterClient;
  /** Must be started before. */
  readonly services: WatchedServices;
  readonly log: Logger;
  readonly timing?: Partial<ReflectorTiming>;
}

/** The resources that the Gateways and routes of the Gateway API result in. */
export interface GatewayApiSource extends Source {
  /** Writes statuses only while it leads. */
  setLeading(isLeading: boolean): void;
}

const UNIT = 'gateway-api';
/** Changes within this time are one. */
const COLLECT_MS = 50;
/** How often it is checked whether the Gateway API was installed meanwhile, and failed writes are tried again. */
const RETRY_MS = 10_000;
const CONCURRENCY = 8;

/**
 * Creates the source of what the Gateway API describes: GatewayClasses with our controller name, their Gateways, HTTPRoutes and GRPCRoutes
 * become Gateways and VirtualServices of ours in memory. It writes their statuses. In a cluster without the Gateway API, or without permission to read it, it is empty.
 */
export function gatewayApiSource({ client, services, log, timing }: GatewayApiOptions): GatewayApiSource {
  const source = memorySource();
  const closing = new AbortController();
  const { signal } = closing;
  const watch = createGatewayWatch({ client, log, timing, onChange: schedule });
  const secrets = createCertificateSecrets({ client, log, timing, onChange: schedule });
  let used: string | undefined;
  const unsubscribe = services.subscribe(() => {
    const before = used;
    used = usedServices(services.services);
    if (used !== before) schedule();
  });
  let isComplete = false;
  let isLeading = false;
  let delivered = '';
  let statuses: readonly NewStatus[] = [];
  const runs = createScheduledWork({ collectMs: COLLECT_MS, work });

  function schedule(): void {
    if (isComplete) runs.schedule();
  }

  async function work(): Promise<void> {
    await translate();
    if (isLeading && !(await writeStatuses())) runs.schedule(RETRY_MS);
  }

  async function translate(): Promise<void> {
    const { tables } = watch;
    const following = secrets.follow(certificateKeys(tables));
    // A Secret that cannot be read must not stop the others.
    await Promise.race([following, wait(RETRY_MS, undefined, { signal, ref: false }).catch(() => undefined)]);
    const options = { writeNamespace: DEFAULT_NAMESPACE };
    let translation: GatewayApiTranslation;
    try {
      translation = translateGateways(inputOf(tables, services, secrets.get), options);
    } catch (error) {
      // A single object must not stop the control plane.
      log.error({ reason: (error as Error).message }, 'cannot translate the Gateway API, what was served stays');
      return;
    }
    const text = JSON.stringify(translation.resources);
    if (text !== delivered) source.set(UNIT, translation.resources);
    delivered = text;
    const current = new Set(translation.statuses.map(({ kind, object }) => `${kind} ${objectKey(object.metadata)}`));
    statuses = [
      ...translation.statuses,
      ...leftStatuses('HTTPRoute', tables.httpRoutes.values(), current),
      ...leftStatuses('GRPCRoute', tables.grpcRoutes.values(), current),
    ];
  }

  const mayWrite = (): boolean => isLeading && !signal.aborted;

  /** Returns false if one could not be written. */
  async function writeStatuses(): Promise<boolean> {
    const now = `${new Date().toISOString().slice(0, 19)}Z`;
    const pending = statuses.flatMap((each) => {
      const patch = statusPatch(each, now);
      return patch ? [{ each, patch }] : [];
    });
    let next = 0;
    let areWritten = true;
    const send = async (): Promise<void> => {
      while (next < pending.length && mayWrite()) {
        const { each, patch } = pending[next++]!;
        if (!(await writeStatus(each, patch, { client, log, signal }))) areWritten = false;
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, send));
    return areWritten;
  }

  /** Begins when the Gateway API is installed. */
  async function beginLater(): Promise<void> {
    try {
      while (!(await hasGatewayApi(client, signal).catch(() => false)))
        await wait(RETRY_MS, undefined, { signal, ref: false });
      await begin();
    } catch {
      // Closed.
    }
  }

  /** Begins. Without permission to read the Gateway API, it does so later: many clusters have its definitions, but do not use them with this gateway. */
  async function beginUnlessForbidden(): Promise<void> {
    const beginning = begin();
    if (await watch.isForbidden()) beginning.catch(() => undefined);
    else await beginning;
  }

  async function begin(): Promise<void> {
    await watch.start();
    if (signal.aborted) return;
    await translate();
    isComplete = true;
    schedule();
  }

  return {
    name: 'gateway-api',
    setLeading(leads) {
      isLeading = leads;
      schedule();
    },
    async start(onChange) {
      if (await hasGatewayApi(client, signal).catch(() => false)) await beginUnlessForbidden();
      else void beginLater();
      await source.start(onChange);
    },
    async close() {
      closing.abort();
      unsubscribe();
      await Promise.all([runs.close(), watch.close(), secrets.close(), source.close()]);
    },
  };
}

function inputOf(
  tables: GatewayTables,
  { services }: WatchedServices,
  certificate: GatewayApiInput['certificate'],
): GatewayApiInput {
  const { classes, gateways, httpRoutes, grpcRoutes, grants, namespaces, upstreams, routeOptions } = tables;
  return {
    classes: classes.values() as Iterable<never>,
    gateways: gateways.values() as Iterable<never>,
    routes: { HTTPRoute: httpRoutes.values() as Iterable<never>, GRPCRoute: grpcRoutes.values() as Iterable<never> },
    grants: grants.values() as Iterable<never>,
    namespaces: new Map([...namespaces.values()].map(({ metadata }) => [metadata.name, metadata.labels ?? {}])),
    servicePorts: (ref) => services?.get(objectKey(ref))?.ports.map(({ port }) => port),
    addressesOf: ({ name, namespace }) =>
      [...(services?.values() ?? [])]
        .filter((service) => service.namespace === namespace && service.labels[GATEWAY_NAME_LABEL] === name)
        .flatMap(({ addresses }) => addresses),
    hasUpstream: (ref) => upstreams.has(objectKey(ref)),
    hasRouteOption: (ref) => routeOptions.has(objectKey(ref)),
    certificate,
    options: optionsOf(tables),
  };
}

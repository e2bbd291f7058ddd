import { setTimeout as wait } from 'node:timers/promises';
import {
  gatewayNamespace,
  digestText,
  nextCertificateState,
  secretCertificates,
  writtenObjects,
  type Logger,
  type Source,
  type WrittenResource,
} from '@edge-gateway/core';
import type { ClusterClient } from '../client/cluster-client.ts';
import type { WriteLimit } from '../client/write-limit.ts';
import type { WatchedServices } from '../discovery/cluster-services.ts';
import { followNewestScope } from '../source/follow-scope.ts';
import type { Scope } from '../source/generation.ts';
import { followScopes } from '../source/scopes.ts';
import { objectKey } from '../watch/cluster-object.ts';
import type { ReflectorTiming } from '../watch/reflector.ts';
import { createScheduledWork } from '../watch/scheduled-work.ts';
import { createCertificateSecrets } from './certificate-secrets.ts';
import type { GatewayApiInput } from './gateway-objects.ts';
import {
  certificateKeys,
  createGatewayWatch,
  hasGatewayApi,
  optionTables,
  type GatewayTables,
  type GatewayWatch,
} from './gateway-watch.ts';
import { GATEWAY_NAME_LABEL } from './gateway-status.ts';
import { optionProblem, optionsOf } from './option-objects.ts';
import type { FaultMemo } from './route-rules.ts';
import { leftStatuses } from './status-patches.ts';
import { createStatusWrites } from './status-writes.ts';
import { translateGateways } from './translate-gateways.ts';
import type { GatewayApiTranslation, GeneratedResource, NewStatus } from './translation.ts';
import { usedServices } from './used-services.ts';

/** Options of {@link gatewayApiSource}. */
export interface GatewayApiOptions {
  readonly client: ClusterClient;
  /** Must be started before. */
  readonly services: WatchedServices;
  readonly log: Logger;
  readonly timing?: Partial<ReflectorTiming>;
  /** Default: none besides that of the API server. */
  readonly limit?: Pick<WriteLimit, 'acquire'>;
  /** Milliseconds since the epoch, for the dates of certificates. Default `Date.now`. */
  readonly now?: () => number;
}

/** The resources that the Gateways and routes of the Gateway API result in. */
export interface GatewayApiSource extends Source {
  /** Writes statuses only while it leads. */
  setLeading(isLeading: boolean): void;
}

/** Changes within this time are one. */
const COLLECT_MS = 50;
/** How often it is checked whether the Gateway API was installed meanwhile, and failed writes are tried again. */
const RETRY_MS = 10_000;
/** Longest wait for a certificate to change its state: the clock may be set, and the machine may sleep. */
const MAX_WAIT_MS = 3_600_000;

/**
 * Creates the source of what the Gateway API describes in the namespaces that the Settings choose: GatewayClasses with our controller name,
 * their Gateways, HTTPRoutes and GRPCRoutes become Gateways and VirtualServices of ours in memory. It writes their statuses. In a cluster
 * without the Gateway API, or without permission to read it, it is empty.
 */
export function gatewayApiSource(options: GatewayApiOptions): GatewayApiSource {
  const { client, services, log, timing, limit, now = Date.now } = options;
  const closing = new AbortController();
  const { signal } = closing;
  const scopes = followScopes({ client, log, timing });
  const secrets = createCertificateSecrets({ client, log, timing, onChange: schedule });
  const writes = createStatusWrites({ client, log, signal, limit });
  const memo: FaultMemo = new WeakMap();
  let used: string | undefined;
  const unsubscribe = services.subscribe(() => {
    // In a cluster without the Gateway API, nobody compares thousands of Services.
    if (!active) return;
    const before = used;
    used = usedServices(services.services);
    if (used !== before) schedule();
  });
  let active: GatewayWatch | undefined;
  let isLeading = false;
  let deliver: Parameters<Source['start']>[0] | undefined;
  /** Digests by unit. */
  let delivered: ReadonlyMap<string, string> = new Map();
  let statuses: readonly NewStatus[] = [];
  const runs = createScheduledWork({ collectMs: COLLECT_MS, retryMs: RETRY_MS, log, work });
  /** Resolves when the Gateway API was translated, or cannot be read yet. */
  const ready = Promise.withResolvers<void>();
  let running: Promise<void> | undefined;

  function schedule(): void {
    if (active) runs.schedule();
  }

  async function work(): Promise<void> {
    await translate();
    scheduleForDates();
    const mayWrite = (): boolean => isLeading && !signal.aborted;
    if (isLeading && !(await writes.write(statuses, mayWrite))) runs.schedule(RETRY_MS);
  }

  /** Runs again when a certificate of a listener changes its state, e.g. expires. */
  function scheduleForDates(): void {
    const time = now();
    const states = Array.from(active ? certificateKeys(active.tables) : [], (key) => {
      const [namespace, name] = key.split('/') as [string, string];
      const found = secrets.get({ namespace, name });
      return 'problem' in found ? [] : secretCertificates(found);
    });
    const next = Math.min(...states.flat().map(({ certificate }) => nextCertificateState(certificate, time)));
    if (next < Infinity) runs.schedule(Math.min(next - time, MAX_WAIT_MS));
  }

  async function translate(): Promise<void> {
    if (!active) return;
    const { tables } = active;
    const following = secrets.follow(certificateKeys(tables));
    // A Secret that cannot be read must not stop the others.
    await Promise.race([following, wait(RETRY_MS, undefined, { signal, ref: false }).catch(() => undefined)]);
    const options = { writeNamespace: gatewayNamespace(), memo };
    let translation: GatewayApiTranslation;
    try {
      translation = translateGateways(inputOf(tables, services, { certificate: secrets.get, now: now() }), options);
    } catch (error) {
      // A single object must not stop the control plane.
      log.error({ reason: (error as Error).message }, 'cannot translate the Gateway API, what was served stays');
      return;
    }
    publish(translation.resources);
    const current = new Set(translation.statuses.map(({ kind, object }) => `${kind} ${objectKey(object.metadata)}`));
    statuses = [
      ...translation.statuses,
      ...leftStatuses('HTTPRoute', tables.httpRoutes.values(), current),
      ...leftStatuses('GRPCRoute', tables.grpcRoutes.values(), current),
    ];
  }

  /** Delivers what differs, all at once: each resource is a unit, so that a change costs what it touches. */
  function publish(resources: readonly GeneratedResource[]): void {
    const next = new Map<string, string>();
    const change = new Map<string, readonly WrittenResource[]>();
    for (const resource of resources) {
      const unit = `gateway-api ${resource.kind} ${resource.metadata.name}`;
      const digest = digestText(JSON.stringify(resource));
      next.set(unit, digest);
      if (delivered.get(unit) === digest) continue;
      change.set(unit, writtenObjects({ unit, origin: { file: unit, line: 1, column: 1 } }, resource));
    }
    for (const unit of delivered.keys()) if (!next.has(unit)) change.set(unit, []);
    delivered = next;
    if (change.size > 0) deliver?.(change);
  }

  function create(scope: Scope): GatewayWatch {
    const onChange = (): void => {
      if (watch === active) schedule();
    };
    const watch: GatewayWatch = createGatewayWatch({ client, scope, log, timing, onChange });
    // Many clusters have its definitions, but do not use them with this gateway.
    void watch.isForbidden().then((isForbidden) => isForbidden && ready.resolve());
    return watch;
  }

  async function activate(next: GatewayWatch): Promise<void> {
    const before = active;
    active = next;
    await before?.close();
    if (signal.aborted) return;
    await translate();
    ready.resolve();
    schedule();
  }

  /** Begins when the Gateway API is installed. */
  async function run(): Promise<void> {
    try {
      while (!(await hasGatewayApi(client, signal).catch(() => false))) {
        ready.resolve();
        await wait(RETRY_MS, undefined, { signal, ref: false });
      }
    } catch {
      return;
    }
    await followNewestScope({ scopes, signal, create, activate });
  }

  return {
    name: 'gateway-api',
    setLeading(leads) {
      isLeading = leads;
      if (leads) writes.forget();
      schedule();
    },
    async start(onChange) {
      const first = new Map<string, readonly WrittenResource[]>();
      deliver = (change) => {
        for (const [unit, written] of change) first.set(unit, written);
      };
      running = run();
      await Promise.race([ready.promise, running]);
      if (signal.aborted) return;
      onChange(first);
      deliver = onChange;
    },
    async close() {
      closing.abort();
      deliver = undefined;
      unsubscribe();
      await scopes.close();
      await running;
      await Promise.all([runs.close(), active?.close(), secrets.close()]);
    },
  };
}

function inputOf(
  tables: GatewayTables,
  { services }: WatchedServices,
  certificates: Pick<GatewayApiInput, 'certificate' | 'now'>,
): GatewayApiInput {
  const { classes, gateways, httpRoutes, grpcRoutes, grants, namespaces, upstreams } = tables;
  const options = optionTables(tables);
  const ofGateways = Map.groupBy(
    [...(services?.values() ?? [])].filter(({ labels }) => labels[GATEWAY_NAME_LABEL] !== undefined),
    ({ namespace, labels }) => `${namespace}/${labels[GATEWAY_NAME_LABEL]}`,
  );
  return {
    classes: classes.values() as Iterable<never>,
    gateways: gateways.values() as Iterable<never>,
    routes: { HTTPRoute: httpRoutes.values() as Iterable<never>, GRPCRoute: grpcRoutes.values() as Iterable<never> },
    grants: grants.values() as Iterable<never>,
    namespaces: new Map([...namespaces.values()].map(({ metadata }) => [metadata.name, metadata.labels ?? {}])),
    servicePorts: (ref) => services?.get(objectKey(ref))?.ports.map(({ port }) => port),
    addressesOf: (ref) => (ofGateways.get(objectKey(ref)) ?? []).flatMap(({ addresses }) => addresses),
    hasUpstream: (ref) => upstreams.has(objectKey(ref)),
    optionProblem: (kind, ref) => optionProblem(options, kind, ref),
    ...certificates,
    options: optionsOf(options),
  };
}

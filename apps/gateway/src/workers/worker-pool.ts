import { randomBytes } from 'node:crypto';
import type { Readiness } from '@edge-gateway/admin';
import {
  createLineSink,
  DEFAULT_SNAPSHOT_SETTINGS,
  GatewayError,
  LOGGER_NAMES,
  ownPorts,
  type Context,
  type ProxyRejection,
  type Snapshot,
  type Steps,
  type UnservedListener,
  startTimer,
} from '@edge-gateway/core';
import { createRecordings, type ListenAddress, type ListenResult } from '@edge-gateway/routing';
import { gatewayError } from '../error-codes.ts';
import type { AppliedState, DataPlane, ServedState } from '../roles/data-plane.ts';
import { readErrorTemplates } from '../roles/error-pages.ts';
import type { ServingSettings } from '../settings.ts';
import { restartAfter } from './restart-delay.ts';
import { createSharedCounters } from './shared-counters.ts';
import { createSinkRelay, relayLines } from './line-relay.ts';
import { mergeHosts, type HostsByUpstream } from './merged-hosts.ts';
import type { ListenReport, SharedPorts, ToWorker, WorkerSetup } from './messages.ts';
import { createParentUpstreams } from './parent-upstreams.ts';
import { createStateEncoder, type EncodedState } from './state-encoder.ts';
import { createStatSums } from './stat-sums.ts';
import { within } from './within.ts';
import { createWorkerLog } from './worker-log.ts';
import { WorkerProcess, type WorkerEnd, type WorkerEvents } from './worker-process.ts';

/** The gateway does not start if so many workers end before all are ready. */
const MAX_START_FAILURES = 5;
/** How long a response of the admin ports waits for a worker that does not respond. */
const REPORT_MS = 1_000;
/** Longer than the tickets are valid, so that few sessions are lost. */
const TICKET_SECRET_MS = 3_600_000;

/** A state that all workers have applied. */
interface AcceptedState {
  readonly state: EncodedState;
  readonly snapshot: Snapshot;
  readonly missing: readonly UnservedListener[];
}

/** The place of a worker. */
interface Slot {
  readonly number: number;
  worker: WorkerProcess | undefined;
  /** Workers that ended soon after their start, in a row. */
  failures: number;
  /** Revision of the state during which its worker ended. */
  failedRevision: number;
  restart?: NodeJS.Timeout | undefined;
}

/**
 * Starts workers, which listen on the same ports and serve; this process translates, watches and answers for all of them. A worker that
 * ends is replaced.
 */
export function createWorkerPool(context: Context, settings: ServingSettings): DataPlane {
  const { log, metrics, now } = context;
  const main = log.get('main');
  const encoder = createStateEncoder();
  const sums = createStatSums(metrics);
  const workerLog = createWorkerLog(log, now);
  const output = createLineSink('/dev/stdout', { onProgress: () => relay.onProgress() });
  const relay = createSinkRelay(output);
  const counters = createSharedCounters(context);
  const upstreams = createParentUpstreams(context, settings.proxyName);
  const recordings = createRecordings({ now });
  const live = metrics.gauge({ path: 'workers.live', metric: 'workers_live' });
  const restarts = metrics.counter({ path: 'workers.restarts', metric: 'workers_restarts' });
  const shared: Omit<WorkerSetup, 'worker'> = {
    processes: settings.workers,
    processKey: randomBytes(32).toString('base64url'),
    settings,
    ...(settings.errorPages !== undefined && { pages: readErrorTemplates(settings.errorPages) }),
    terminal: { isTTY: process.stdout.isTTY === true, hasColors: process.stdout.hasColors?.() === true },
  };
  /** By worker. */
  const hosts = new Map<number, HostsByUpstream>();
  const slots: Slot[] = Array.from({ length: settings.workers }, (_, i) => ({
    number: i + 1,
    worker: undefined,
    failures: 0,
    failedRevision: 0,
  }));
  const settled = Promise.withResolvers<void>();
  let ticketSecret: Uint8Array = randomBytes(32);
  let snapshot: Snapshot = {
    proxy: settings.proxyName,
    version: '',
    listeners: [],
    upstreams: [],
    settings: DEFAULT_SNAPSHOT_SETTINGS,
  };
  let current: EncodedState | undefined;
  /** The newest state that all workers have applied. */
  let accepted: AcceptedState | undefined;
  let lastUpdated = new Date(now());
  let missing: readonly UnservedListener[] = [];
  let ports: Omit<SharedPorts, 'opens'> = { version: 1, open: new Map(), claimed: [...ownPorts()] };
  let applied: PromiseWithResolvers<readonly ProxyRejection[]> | undefined;
  let healthy = true;
  let draining = false;
  let closing = false;
  let complete = false;
  let isSettled = false;

  const workers = (): WorkerProcess[] => slots.flatMap(({ worker }) => worker ?? []);
  /** The worker that opens listeners first. */
  const leader = (): WorkerProcess | undefined => workers()[0];
  const broadcast = (message: ToWorker): void => {
    for (const worker of workers()) worker.send(message);
  };

  const events: WorkerEvents = {
    onApplied: settleApplied,
    onListening() {
      updatePorts();
      const first = leader();
      for (const worker of workers()) {
        if (worker.isServing || !isUpToDate(worker) || !first || !isUpToDate(first)) continue;
        worker.isServing = true;
        main.info({ worker: worker.number, pid: worker.pid }, 'worker is serving');
      }
      settle();
    },
    onCharges: (batch) => counters.count(batch),
    onRecorded: recordings.keep,
    onStats: (worker, report) => sums.add(worker.number, report),
    onEnd: ended,
  };

  function start(slot: Slot): void {
    slot.restart = undefined;
    const worker = new WorkerProcess({ ...shared, worker: slot.number }, events);
    slot.worker = worker;
    relay.add(worker.stdout);
    relayLines(worker.stderr, (lines) => workerLog.write(slot.number, lines));
    worker.send({ type: 'levels', levels: LOGGER_NAMES.map((name) => [name, log.level(name)]) });
    worker.send({ type: 'ticketSecret', secret: ticketSecret });
    if (!healthy) worker.send({ type: 'healthy', healthy });
    sharePorts();
    if (current) worker.offer(current);
    live.value = workers().length;
  }

  function ended(worker: WorkerProcess, { code, signal, error }: WorkerEnd): void {
    const slot = slots[worker.number - 1]!;
    slot.worker = undefined;
    slot.failedRevision = worker.applying;
    sums.remove(worker.number);
    settleApplied();
    hosts.delete(worker.number);
    live.value = workers().length;
    if (worker.isClosing || closing || draining) return;
    const { failures, delayMs } = restartAfter(slot.failures, performance.now() - worker.startedAt);
    slot.failures = failures;
    const how = {
      ...(code !== null && { exitCode: code }),
      ...(signal && { signal }),
      ...(error && { reason: error.message }),
    };
    main.error({ worker: worker.number, pid: worker.pid, ...how, restartInMs: delayMs }, 'worker ended unexpectedly');
    if (!isSettled && slot.failures >= MAX_START_FAILURES) {
      settled.reject(
        gatewayError('ERR_GATEWAY_WORKER', `worker ${worker.number} ended ${slot.failures} times during the start.`),
      );
      return;
    }
    restarts.value++;
    slot.restart = startTimer(start, delayMs, slot);
    // The next one opens listeners first.
    sharePorts();
    settle();
  }

  /** Shares the ports that workers have opened. */
  function updatePorts(): void {
    const known = new Set(snapshot.listeners.map(({ name }) => name));
    const open = new Map([...ports.open].filter(([name]) => known.has(name)));
    for (const { listening } of workers())
      for (const { name, port } of listening?.addresses ?? []) if (known.has(name)) open.set(name, port);
    const isSame = open.size === ports.open.size && [...open].every(([name, port]) => ports.open.get(name) === port);
    if (isSame) return;
    ports = { ...ports, version: ports.version + 1, open };
    sharePorts();
  }

  function sharePorts(): void {
    for (const worker of workers()) worker.sharePorts({ ...ports, opens: worker === leader() });
  }

  const isUpToDate = ({ listening }: WorkerProcess): boolean =>
    listening !== undefined && listening.revision === current?.revision && listening.ports === ports.version;

  /** Resolves the first `apply` once all workers have opened their listeners, or failed to. */
  function settle(): void {
    if (isSettled || !current || slots.some(({ worker }) => !worker || !isUpToDate(worker))) return;
    isSettled = true;
    settled.resolve();
  }

  function addresses(): ListenAddress[] {
    const open = new Map<string, ListenAddress>();
    for (const { listening } of workers()) for (const each of listening?.addresses ?? []) open.set(each.name, each);
    const order = new Map(snapshot.listeners.map(({ name }, i) => [name, i]));
    return [...open.values()]
      .filter(({ name }) => order.has(name))
      .sort((a, b) => order.get(a.name)! - order.get(b.name)!);
  }

  function unserved(): readonly UnservedListener[] {
    const all = workers();
    const failed = snapshot.listeners.flatMap(({ name }) => {
      const without = all.filter(({ listening }) => !listening?.addresses.some((each) => each.name === name));
      if (all.length > 0 && without.length === 0) return [];
      const failure = without.flatMap(
        ({ listening }) => listening?.results.find((each) => each.name === name)?.error ?? [],
      );
      return [{ name, reason: failure[0]?.message ?? 'not opened yet' }];
    });
    return [...failed, ...missing];
  }

  function isReady(): boolean {
    if (!complete && isSettled && unserved().length === 0) complete = true;
    return complete && workers().some(({ isServing, isResponding }) => isServing && isResponding);
  }

  function readiness(): Readiness {
    if (draining || !healthy) return 'DRAINING';
    if (isReady()) return 'LIVE';
    return isSettled ? 'INITIALIZING' : 'PRE_INITIALIZING';
  }

  /** Ends the pending wait once all workers have applied the newest state, or have ended while they applied it. */
  function settleApplied(): void {
    if (!current || draining || closing) return;
    const { revision } = current;
    if (slots.every((slot) => slot.failedRevision === revision && slot.worker?.revision !== revision))
      return rejectState();
    const all = workers();
    if (all.length === 0 || all.some((worker) => worker.revision !== revision)) return;
    current.release();
    accepted = { state: current, snapshot, missing };
    applied?.resolve(uniqueRejections(all));
    applied = undefined;
  }

  /** Returns to the last state that all workers have applied, if there is one. */
  function rejectState(): void {
    const reason = 'all workers ended while they applied it';
    main.error({ reason, isPreviousServed: accepted !== undefined }, 'configuration change rejected');
    applied?.reject(gatewayError('ERR_GATEWAY_WORKER', reason));
    applied = undefined;
    if (!accepted) return;
    ({ state: current, snapshot, missing } = accepted);
    for (const slot of slots) slot.failedRevision = 0;
    upstreams.apply(snapshot);
    updatePorts();
    for (const worker of workers()) worker.offer(current);
  }

  function* apply({ snapshot: next, unserved: absent, secrets, lacksSecrets }: ServedState): Steps<AppliedState> {
    const encoded = encoder.encode({ snapshot: next, unserved: absent, secrets: secrets() }, lacksSecrets);
    yield;
    isReady();
    missing = absent;
    snapshot = next;
    lastUpdated = new Date(now());
    upstreams.apply(next);
    current = encoded;
    updatePorts();
    applied ??= Promise.withResolvers();
    const later = applied.promise;
    // Also without a caller that waits for it.
    later.catch(() => {});
    for (const worker of workers()) worker.offer(current);
    const listening = settled.promise.then(() => leader()?.listening?.results.map(resultOf) ?? []);
    return { failed: [], later, listening };
  }

  const rotation = setInterval(() => {
    ticketSecret = randomBytes(32);
    broadcast({ type: 'ticketSecret', secret: ticketSecret });
  }, TICKET_SECRET_MS).unref();
  followLevels(log, (levels) => broadcast({ type: 'levels', levels }));
  const killAll = (): void => {
    for (const worker of workers()) worker.kill();
  };
  process.on('exit', killAll);
  for (const slot of slots) start(slot);
  // Without a caller that waits for it.
  settled.promise.catch(() => {});

  return {
    listeners: { addresses },
    get snapshot() {
      return snapshot;
    },
    get lastUpdated() {
      return lastUpdated;
    },
    get readiness() {
      return readiness();
    },
    get unserved() {
      return unserved();
    },
    apply,
    callUpstream: upstreams.callUpstream,
    graphqlExplorer: upstreams.graphqlExplorer,
    recordings: {
      // A client may send the request as soon as it has the token.
      async create() {
        const token = recordings.create();
        if (token !== undefined)
          await within(
            REPORT_MS,
            workers().map((worker) => worker.record(token)),
          );
        return token;
      },
      take: recordings.take,
    },
    hostStates: (upstream) => mergeHosts([...hosts.values()], upstream),
    ownPortsChanged() {
      ports = { ...ports, version: ports.version + 1, claimed: [...ownPorts()] };
      sharePorts();
    },
    async refresh(what) {
      const refreshed = workers().map(async (worker) => {
        if (what === 'stats') return worker.requestStats();
        const found = await worker.requestHosts();
        if (!worker.hasEnded) hosts.set(worker.number, found);
        return undefined;
      });
      await within(REPORT_MS, refreshed);
    },
    setHealthy(value) {
      healthy = value;
      broadcast({ type: 'healthy', healthy });
    },
    components() {
      const open = addresses().map(({ name }) => name);
      const failed = unserved();
      const lost = new Set(failed.map(({ name }) => name));
      return [
        ...open.filter((name) => !lost.has(name)).map((name) => ({ name, kind: 'listener', state: 'ready' }) as const),
        ...failed.map((one) => ({ ...one, kind: 'listener', state: 'failed' }) as const),
        ...slots.map(({ number, worker }) => {
          if (worker?.isServing && !worker.isResponding) {
            const reason = 'its event loop is blocked, or the process is stopped';
            return { name: `worker-${number}`, kind: 'worker', state: 'failed', reason } as const;
          }
          const state = worker?.isServing ? (draining ? 'draining' : 'ready') : 'starting';
          return { name: `worker-${number}`, kind: 'worker', state } as const;
        }),
      ];
    },
    async drain(limitMs) {
      draining = true;
      for (const { restart } of slots) clearTimeout(restart);
      await Promise.all(workers().map((worker) => worker.drain(limitMs)));
    },
    async close() {
      closing = true;
      clearInterval(rotation);
      for (const { restart } of slots) clearTimeout(restart);
      await Promise.all(workers().map((worker) => worker.close()));
      process.off('exit', killAll);
      await upstreams.close();
      counters.close();
      await output.close();
    },
  };
}

/** Calls back with the levels of all loggers after each change. */
function followLevels(
  log: Context['log'],
  onChange: (levels: Extract<ToWorker, { type: 'levels' }>['levels']) => void,
) {
  const { setLevel } = log;
  log.setLevel = (level, name) => {
    setLevel(level, name);
    onChange(LOGGER_NAMES.map((each) => [each, log.level(each)]));
  };
}

/** Returns the rejections of all workers. */
function uniqueRejections(all: readonly WorkerProcess[]): readonly ProxyRejection[] {
  const found = all.flatMap(({ rejections }) => rejections);
  return [...new Map(found.map((each) => [JSON.stringify(each), each])).values()];
}

function resultOf({ error, ...at }: ListenReport): ListenResult {
  if (!error) return at;
  const { code, message, causeCode } = error;
  const cause = Object.assign(new Error(message), causeCode !== undefined && { code: causeCode });
  return { ...at, error: new GatewayError(message, { code, cause }) };
}

// The program of a worker: a data plane that its parent controls through messages.
import {
  claimOwnPort,
  createContext,
  createLineSink,
  createLoggers,
  createPages,
  createWatchdog,
  DEFAULT_NAMESPACE,
  protectHttp2,
  runInSlices,
  setGatewayNamespace,
  type HostState,
  type Listener,
} from '@edge-gateway/core';
import { createRelayedStore } from '@edge-gateway/rate-limit';
import type { ListenResult } from '@edge-gateway/routing';
import { createDataPlane, type LocalDataPlane } from '../roles/data-plane.ts';
import { shownVariables } from '../roles/shown-variables.ts';
import { ALIVE_MS } from './messages.ts';
import type { ListenReport, SharedPorts, ToParent, ToWorker, WorkerSetup } from './messages.ts';
import { createStateDecoder } from './state-decoder.ts';
import { createReportedMetrics } from './stat-report.ts';

type Receive = (message: ToWorker) => void;

function send(message: ToParent): boolean {
  if (!process.connected) return false;
  process.send!(message, undefined, undefined, () => {});
  return true;
}

/** Starts the data plane; returns what handles the further messages. */
function start({ worker, processes, processKey, settings, pages, terminal }: WorkerSetup): Receive {
  protectHttp2();
  setGatewayNamespace(settings.namespace ?? DEFAULT_NAMESPACE);
  const sink = createLineSink('/dev/stderr');
  const log = createLoggers({
    level: settings.logLevel,
    ...(settings.componentLogLevel && { levels: settings.componentLogLevel }),
    destination: { write: (line) => sink.write(line) },
    fields: { worker },
  });
  const reported = createReportedMetrics();
  const watchdog = createWatchdog({ metrics: reported.metrics, log: log.get('main'), thread: 'workers' });
  const alive = setInterval(() => send({ type: 'alive' }), ALIVE_MS).unref();
  const decoder = createStateDecoder();
  const context = createContext({
    log,
    metrics: reported.metrics,
    secrets: decoder.secrets,
    processes,
    processKey,
    env: shownVariables(settings),
    ...(pages && { pages: createPages(pages) }),
  });
  const counters = settings.rateLimitRedis === undefined ? relayedCounters() : undefined;
  let ports: SharedPorts = { version: 0, open: new Map(), opens: false, claimed: [] };
  let revision = 0;
  let releasePorts: (() => void)[] = [];
  let closing: Promise<void> | undefined;
  /** State and ports of the last report. */
  let settledAt = { revision: 0, ports: 0 };
  const dataPlane = createDataPlane(context, settings, {
    ...(counters && { store: counters }),
    terminal: { isTTY: terminal.isTTY, hasColors: () => terminal.hasColors },
    onRecorded: (token, recording) => send({ type: 'recorded', token, recording }),
    isWithheld: ({ name }) => !ports.opens && !ports.open.has(name),
    listeners: {
      portOf: ({ name, bindPort }) => ports.open.get(name) ?? bindPort,
      sharingOf: (listener) => (isOurs(listener, ports) ? 'join' : 'start'),
      onResults: (results) => report(results, settledAt),
    },
  });

  function report(results: readonly ListenResult[], at: typeof settledAt): void {
    settledAt = at;
    const addresses = dataPlane.listeners.addresses();
    send({ type: 'listening', report: { ...at, results: results.map(reportOf), addresses } });
  }

  /** Reports the listeners of the current state and ports when they are open, or have failed. */
  async function reportWhenOpen(opening: Promise<readonly ListenResult[]>): Promise<void> {
    const at = { revision, ports: ports.version };
    report(await opening, at);
  }

  /** The parent sends the next state when this one is applied. */
  async function applyState(change: Uint8Array): Promise<void> {
    let opening: Promise<readonly ListenResult[]> = Promise.resolve([]);
    const steps = decoder.apply(change, function* ({ snapshot, unserved }) {
      const applied = yield* dataPlane.apply({ snapshot, unserved, secrets: () => new Map() });
      opening = applied.listening;
      return applied;
    });
    const next = await runInSlices(steps, () => closing !== undefined);
    if (!next) return;
    revision = next.revision;
    void reportWhenOpen(opening);
    send({ type: 'applied', ...next });
  }

  function claimPorts(claimed: readonly number[]): void {
    const before = releasePorts;
    releasePorts = claimed.map((port) => claimOwnPort(port));
    for (const release of before) release();
  }

  /** Finishes the requests within the limit, then ends the process. */
  function close(): Promise<void> {
    closing ??= dataPlane.close().then(async () => {
      counters?.close();
      clearInterval(alive);
      watchdog.close();
      await sink.close();
      if (process.connected) process.disconnect();
      process.exit(0);
    });
    return closing;
  }

  process.once('disconnect', () => {
    if (closing) return;
    log.get('main').warn({}, 'the parent process has ended, stopping');
    void dataPlane.drain(settings.drainSeconds * 1000).then(close);
  });

  function relayedCounters() {
    return createRelayedStore({ send: (batch) => send({ type: 'charged', batch }) });
  }

  return function receive(message) {
    switch (message.type) {
      case 'setup':
        return;
      case 'state':
        return void applyState(message.change);
      case 'ports':
        ({ ports } = message);
        claimPorts(ports.claimed);
        if (revision > 0) void reportWhenOpen(dataPlane.listenAgain());
        return;
      case 'levels':
        for (const [name, level] of message.levels) log.setLevel(level, name);
        return;
      case 'ticketSecret':
        return dataPlane.listeners.setTicketSecret(message.secret);
      case 'healthy':
        return dataPlane.setHealthy(message.healthy);
      case 'counted':
        return counters?.settle(message.batch);
      case 'record':
        dataPlane.recordings.expect(message.token);
        send({ type: 'recording', token: message.token });
        return;
      case 'report':
        send(
          message.what === 'stats'
            ? { type: 'stats', report: reported.report() }
            : { type: 'hosts', hosts: hostsOf(dataPlane) },
        );
        return;
      case 'drain':
        void dataPlane.drain(message.limitMs).then(() => send({ type: 'drained' }));
        return;
      case 'close':
        void close();
    }
  };
}

/** True for a port on which workers of this gateway listen already. */
function isOurs({ name, bindPort }: Listener, { open }: SharedPorts): boolean {
  return open.has(name) || [...open.values()].includes(bindPort);
}

function reportOf({ name, address, port, error }: ListenResult): ListenReport {
  const cause = (error?.cause as NodeJS.ErrnoException | undefined)?.code;
  const shown = error && { error: { code: error.code, message: error.message, ...(cause && { causeCode: cause }) } };
  return { name, ...(address !== undefined && { address }), ...(port !== undefined && { port }), ...shown };
}

function hostsOf({ snapshot, hostStates }: LocalDataPlane): ReadonlyMap<string, readonly HostState[]> {
  return new Map(snapshot.upstreams.map(({ name }) => [name, hostStates(name) ?? []]));
}

// The parent gets the same signals from a terminal or a service manager, and lets its workers drain.
process.on('SIGTERM', () => {});
process.on('SIGINT', () => {});
let receive: Receive | undefined;
process.on('message', (message: ToWorker) => {
  if (receive) receive(message);
  else if (message.type === 'setup') receive = start(message.setup);
});

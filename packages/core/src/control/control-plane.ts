import { createCertificateWatch } from './certificate-watch.ts';
import { replacedDefaultPorts } from './default-ports.ts';
import type { AcceptedFile } from './accepted/accepted-file.ts';
import { createHistory, mayServeEarlier } from './accepted/history.ts';
import { reportChanges } from './change-report.ts';
import { issuesOf } from './problems.ts';
import type { Observed, ObservedProblem } from '../resource/stored.ts';
import { withChanges } from '../layered-map.ts';
import { libraryLoggers, silentLoggers, type Loggers } from '../observe/logger.ts';
import { createMetrics, type Metrics } from '../observe/metrics.ts';
import type { FieldPath } from '../resource/problem.ts';
import type { Origin, Resource, ResourceKey } from '../resource/resource.ts';
import { DEFAULT_SNAPSHOT_SETTINGS, type Secrets, type SnapshotUpstream } from '../contract/snapshot.ts';
import type { Sds } from '../schema/listener/ssl-config.ts';
import { sdsFileOf } from '../security/sds-target.ts';
import { certificateFiles, readCertificateFiles } from '../source/certificate-files.ts';
import { directorySource } from '../source/directory.ts';
import { sdsFiles } from '../source/sds-file.ts';
import { createSdsServers } from '../source/sds-server.ts';
import type { ClusterServices } from '../contract/cluster-services.ts';
import type { Source, SourceChange, WrittenResource } from '../source/source.ts';
import { createWatchedFiles, type ResourceFiles } from '../source/watched-files.ts';
import { createConfigStatusMetrics } from './config-status.ts';
import { previewChange, type ChangePreview } from './preview.ts';
import { createDirectorySources } from './directory-sources.ts';
import { directoriesIn, type DirectoryBase } from './settings-directories.ts';
import { DEFAULTS } from '../schema/defaults.ts';
import type { SettingsSpec } from '../schema/kind/settings.ts';
import { parseDuration } from '../syntax/duration.ts';
import { settingsKey } from '../translate/translation-settings.ts';
import type { ControlPlaneState } from './state.ts';
import { createStore, secretsOf, type Store } from './store.ts';
import type { ValidatedDocuments } from './claim.ts';
import { completeResource } from '../upstream/complete-resource.ts';
import { translateSteps } from '../translate/translate.ts';
import type { Translation } from '../translate/translate.ts';
import type { DefaultGateways } from '../translate/listener/gateways.ts';
import { unservedListeners } from '../translate/listener/unserved-listeners.ts';
import type { ResourceCheck } from '../validate/check.ts';
import { runInSlices, runSteps, type Steps } from '../time/slices.ts';
import { startTimer } from '../time/timer.ts';

/** Options of {@link createControlPlane}. */
export interface ControlPlaneOptions {
  /** The resources, e.g. `directorySource('resources')` or `memorySource()`. */
  readonly source: Source;
  /** The Gateways to serve while no Gateway resource exists. Default: ports 8080 and 8443. */
  readonly defaultGateways?: DefaultGateways;
  /** Default: warnings and errors, to standard error. */
  readonly log?: Loggers;
  /** Default: statistics that are not published. */
  readonly metrics?: Metrics;
  /** Checks besides those of core, e.g. `graphqlApiCheck` of `@edge-gateway/graphql`. Default: none. */
  readonly checks?: readonly ResourceCheck[];
  /**
   * Whether files in `sslFiles` and `sds` are validated and watched, and servers in `sds` are called. Default true. False does neither, for checks on
   * another machine: of `sslFiles`, only the dates and names of certificates that can be read are checked.
   */
  readonly certificateFiles?: boolean;
  /**
   * Other files of resources to read, validate and watch, e.g. `descriptorFiles(directory)` of
   * `@edge-gateway/graphql`. Default: none.
   */
  readonly files?: readonly ResourceFiles[];
  /** The Services of a cluster, for upstreams and destinations of type `kube`. Default: none. */
  readonly services?: ClusterServices;
  /**
   * Reads the directories that the Settings name, relative to `base`; `watch: false` reads them once. Default: they are not read, and the Settings
   * get a warning.
   */
  readonly directories?: DirectoryBase & { readonly watch?: boolean };
  /**
   * Keeps the accepted versions of resources beyond this process, e.g. `acceptedFile({ path, log, metrics })`: if resources are invalid at the start, or their references
   * broken, their last good versions are served. Default: last good versions exist only in memory.
   */
  readonly accepted?: AcceptedFile;
  /** Milliseconds since the epoch, for the dates of certificates. Default `Date.now`. */
  readonly now?: () => number;
}

/** source → validate → store → translate, kept up to date. */
export interface ControlPlane {
  /** The newest state; `undefined` until `start` resolved. */
  readonly state: ControlPlaneState | undefined;
  /** Secret values and certificate files of the newest state, e.g. for `createContext`. */
  readonly secrets: Secrets;
  /**
   * Resolves when the first state is complete, even if resources in it are rejected. Rejects if the source cannot start, for a directory
   * with `ERR_CORE_DIRECTORY_UNREADABLE`.
   */
  start(): Promise<void>;
  /**
   * Stores an observation about a resource: its problems and notes are part of the status. It is kept until the same observer
   * replaces it; `undefined` removes it.
   */
  observe(key: ResourceKey, observed: Observed | undefined, observer?: string): void;
  /** Returns where a field of a resource is written, or its nearest parent; `undefined` for one that no source contains. */
  locate(key: ResourceKey, path: FieldPath): Origin | undefined;
  /**
   * Resolves with the problems that a change of the source would cause, by the same validation and translation, without applying it. Changes that
   * have arrived are applied before. Files that resources name are not read. Resolves with `undefined` while there is no translated state, or when
   * the control plane closes.
   */
  preview(change: SourceChange): Promise<ChangePreview | undefined>;
  /**
   * Calls back with each new state, and immediately with the current one, if any. Steps that a listener returns run in slices, between which requests
   * are served; the next state follows them. Returns a function that unsubscribes.
   */
  subscribe(listener: StateListener): () => void;
  /** Resolves when all changes of the source are applied, and the directories that the newest Settings name have been read. */
  settled(): Promise<void>;
  /** Stops watching. `state` keeps its last value. */
  close(): Promise<void>;
}

/** Called with each new state. */
export type StateListener = ((state: ControlPlaneState) => void) | ((state: ControlPlaneState) => Steps<unknown>);

/**
 * Creates a control plane: source → store → translate → publish. It publishes nothing before `start`. A failed
 * change is logged and leaves the previous state in place.
 *
 * @example
 * const controlPlane = createControlPlane({ source: directorySource('resources') });
 * controlPlane.subscribe((state) => router.apply(state.snapshots.get('gateway-proxy')!));
 * await controlPlane.start();
 */
export function createControlPlane(options: ControlPlaneOptions): ControlPlane {
  const { source, defaultGateways, log = libraryLoggers, metrics = createMetrics(), checks } = options;
  const { files = [], certificateFiles: readsCertificates = true, directories, services } = options;
  const { accepted, now = Date.now } = options;
  const report = reportChanges(log.get('config'), metrics);
  const configStatus = createConfigStatusMetrics(metrics);
  const listeners = new Set<StateListener>();
  /** So that restoring accepted versions does not validate documents again. */
  const validated: ValidatedDocuments | undefined = accepted && new WeakMap();
  let store = createStore(checks, source.platform, validated);
  let history = createHistory();
  /** True while the newest of its states is served, but not saved. */
  let isUnsaved = false;
  /** Everything that the sources contained before the first state. */
  let listed: SourceChange = new Map();
  const named =
    directories &&
    createDirectorySources({
      ...directories,
      kinds: source.kinds,
      watch: directories.watch ?? true,
      log: log.get('config'),
      onChange: (change) =>
        takeSteps(function* () {
          const observed = observeSettings(named!.problems);
          return new Set([...observed, ...(yield* settleListed(change))]);
        }),
    });
  let refreshMs: number | undefined;
  /** Changes in the order of their arrival. */
  const waiting: (() => Steps<Iterable<ResourceKey>>)[] = [];
  /** The change of the source that waits. Newer ones are added to it, so that changes without end do not accumulate. */
  let waitingChange: Map<string, readonly WrittenResource[]> | undefined;
  /** Applies changes, step by step. */
  let work: Steps<void> | undefined;
  /** Settled when no change is applied in slices. */
  let slicing: Promise<unknown> | undefined;
  let isSlicing = false;
  /** Called at the end of `work`, before the next begins. */
  let afterWork: (() => void)[] = [];
  /** Changed keys that are not translated yet. */
  let due = new Set<ResourceKey>();
  let resources: ReadonlyMap<ResourceKey, Resource> = new Map();
  let translation: Translation | undefined;
  let state: ControlPlaneState | undefined;
  /** True while the first state waits for the endpoints of Services. */
  let isWarming = services !== undefined;
  /** True from the time at which it no longer waits until they are listed. */
  let lacksServices = false;
  const closing = new AbortController();
  const watchOptions = { onChange: (keys: ReadonlySet<ResourceKey>) => take(() => observe(keys)), log, metrics };
  const certificates = readsCertificates ? createWatchedFiles(certificateFiles, watchOptions) : undefined;
  const fromFiles = readsCertificates ? createWatchedFiles(sdsFiles, watchOptions) : undefined;
  const secrets: Secrets = {
    get: (ref) => state?.secrets.get(ref),
    ...(certificates && { files: certificates.get }),
    ...(readsCertificates && {
      sds: (sds: Sds) => (sdsFileOf(sds) === undefined ? fromServers : fromFiles)?.get(sds),
    }),
  };
  const fromServers = readsCertificates ? createSdsServers({ ...watchOptions, secrets, findUpstream }) : undefined;
  const watches = [
    ...[certificates, fromFiles, fromServers].filter((watch) => watch !== undefined),
    ...files.map((kind) => createWatchedFiles(kind, watchOptions)),
  ];
  const dates = createCertificateWatch({
    now,
    secrets: {
      get: (ref) => secretsOf(store.state.stored).get(ref),
      files: certificates?.get ?? ((files) => readCertificateFiles(files).secret),
      ...(secrets.sds && { sds: secrets.sds }),
    },
    onChange: (keys) => take(() => observe(keys)),
  });
  /** Observations other than those about watched files, by observer. */
  const reported = new Map<ResourceKey, Map<string, Observed>>();
  function findUpstream(name: string): SnapshotUpstream | undefined {
    for (const { upstreams } of state?.snapshots.values() ?? []) {
      const found = upstreams.find((upstream) => upstream.name === name);
      if (found) return found;
    }
    return undefined;
  }

  const observe = (keys: Iterable<ResourceKey>): ReadonlySet<ResourceKey> => runSteps(observeSteps(keys));

  function* observeSteps(keys: Iterable<ResourceKey>): Steps<ReadonlySet<ResourceKey>> {
    const found: [ResourceKey, Observed | undefined][] = [];
    for (const key of keys) {
      const own = reported.get(key)?.values() ?? [];
      const watched = [...watches, dates].map((watch) => watch.observedOf(key));
      found.push([key, mergeObserved([...own, ...watched])]);
      yield;
    }
    return store.observe(found);
  }

  /** Follows what the Settings say about sources. Returns true while directories are being read for the first time. */
  function followSettings(): boolean {
    const spec = (store.state.stored.get(settingsKey())?.resource?.spec ?? NO_SETTINGS) as SettingsSpec;
    const refresh = parseDuration(spec.refreshRate ?? DEFAULTS.refreshRate);
    if (refresh !== refreshMs) {
      refreshMs = refresh;
      source.refreshEvery?.(refresh);
      named?.refreshEvery(refresh);
    }
    if (named) return named.follow(spec);
    for (const key of observeSettings(unreadDirectories(spec))) due.add(key);
    return false;
  }

  /** Records what is wrong with the directories of the Settings. */
  function observeSettings(problems: readonly ObservedProblem[]): ReadonlySet<ResourceKey> {
    const known = reported.get(settingsKey()) ?? new Map<string, Observed>();
    if (problems.length === 0 && !known.has(DIRECTORIES)) return NO_KEYS;
    reported.set(settingsKey(), known.set(DIRECTORIES, { problems, notes: [] }));
    return observe([settingsKey()]);
  }

  /** Reads and watches what a resource names. Returns true if it may name anything. */
  function follow(key: ResourceKey, resource: Resource | undefined): boolean {
    return [...watches, dates].filter((watch) => watch.follow(key, resource)).length > 0;
  }

  /** Applies a change of the source, with the files of its resources. */
  function* settleSource(change: SourceChange): Steps<ReadonlySet<ResourceKey>> {
    const changed = yield* store.applySteps(change);
    const users: ResourceKey[] = [];
    for (const key of changed) {
      if (follow(key, store.state.stored.get(key)?.resource)) users.push(key);
      yield;
    }
    for (const watch of watches) watch.prune(state?.snapshots.values() ?? []);
    return new Set([...changed, ...(yield* observeSteps(new Set([...users, ...dates.usersOf(changed)])))]);
  }

  function* settleListed(change: SourceChange): Steps<ReadonlySet<ResourceKey>> {
    if (!state && accepted) listed = new Map([...listed, ...change]);
    return yield* settleSource(change);
  }

  function take(settle: () => Iterable<ResourceKey>): void {
    takeSteps(function* () {
      yield;
      return settle();
    });
  }

  /** Applies a change after those that wait: a small one before it returns, a large one in slices between which requests are served. */
  function takeSteps(settle: (typeof waiting)[number]): void {
    if (closing.signal.aborted) return;
    waiting.push(settle);
    if (work) return;
    work = changeSteps();
    for (let i = 0; work && i < STEPS_AT_ONCE; i++) nextStep();
    if (work && !isSlicing) slicing = runInSlices(remainingSteps(), () => closing.signal.aborted);
  }

  /** Applies a change of the source, together with the one that waits, if any. */
  function takeChange(change: SourceChange): void {
    if (waitingChange) {
      for (const [unit, written] of change) waitingChange.set(unit, written);
      return;
    }
    const joined = new Map(change);
    waitingChange = joined;
    takeSteps(function* () {
      waitingChange = undefined;
      return yield* settleListed(joined);
    });
  }

  function nextStep(): void {
    let done: boolean | undefined = true;
    try {
      ({ done } = work!.next());
    } finally {
      if (done) {
        work = waiting.length > 0 ? changeSteps() : undefined;
        const calls = afterWork;
        afterWork = [];
        for (const call of calls) call();
      }
    }
  }

  function* remainingSteps(): Steps<void> {
    isSlicing = true;
    try {
      for (; work; yield) nextStep();
    } finally {
      isSlicing = false;
      work?.return();
      work = undefined;
    }
  }

  /** Calls back when the changes that have arrived are published. */
  function whenPublished(call: () => void): void {
    if (!work) return call();
    // The changes that wait may be part of the next work.
    afterWork.push(waiting.length > 0 ? () => (work ? afterWork.push(call) : call()) : call);
  }

  function previewNow(change: SourceChange): ChangePreview | undefined {
    if (!state || !translation || closing.signal.aborted) return undefined;
    const { memo } = translation;
    return previewChange(change, { store, issues: state.issues, memo, kinds: source.kinds, defaultGateways });
  }

  /** Applies the changes that wait at its beginning, and publishes the state. */
  function* changeSteps(): Steps<void> {
    const began = performance.now();
    try {
      // Not those that arrive meanwhile: changes without end would never be published.
      for (let left = waiting.length; left > 0; left--) for (const key of yield* waiting.shift()!()) due.add(key);
      // A change of directories takes effect together with their content.
      if (followSettings() || isWarming) return;
      const now = state ? yield* stateAfter() : yield* firstState();
      if (!now) return;
      state = now;
      listed = new Map();
      report.changed(now, performance.now() - began, store.unwatched);
      configStatus.update(now);
      if (accepted) history.add(store.state.stored, now.issues);
      isUnsaved = true;
    } catch (error) {
      report.failed(error);
      if (state) return;
      state = toState(store, resources, {
        translation: undefined,
        translationMs: 0,
        lacksServices,
        defaultGateways: undefined,
      });
    }
    const published = state;
    for (const listener of listeners) {
      yield* publish(listener, published);
      yield;
    }
    // After the data plane of this process has applied the state, which can take seconds at the start.
    save();
  }

  function save(): void {
    if (isUnsaved && history.states.length > 0) accepted?.write(history.states);
    isUnsaved = false;
  }

  /** Returns the state after the changes that are due; `undefined` if there are none. */
  function* stateAfter(): Steps<ControlPlaneState | undefined> {
    const { revision, stored, services: known } = store.state;
    if (revision === state?.revision) return undefined;
    resources = resourcesAfter(resources, due, store.state);
    due = new Set();
    const began = performance.now();
    let translationMs: number;
    try {
      const input = { stored, services: known, kinds: source.kinds, defaultGateways };
      translation = yield* translateSteps(input, translation?.memo);
    } finally {
      translationMs = performance.now() - began;
      report.translated(translationMs);
    }
    return toState(store, resources, { translation, translationMs, lacksServices, defaultGateways });
  }

  /**
   * Returns the first state. If it has problems, what was accepted before this process is repeated first, so that last good versions are known. Returns `undefined`
   * while directories are being read that the last good Settings name.
   */
  function* firstState(): Steps<ControlPlaneState | undefined> {
    let first = yield* stateAfter();
    const steps = first?.issues.some(mayServeEarlier) ? accepted?.read(listed, validated) : undefined;
    if (!steps) return first;
    // The translation is not kept beside that of the accepted versions: both need much memory.
    first = undefined;
    translation = undefined;
    return withAccepted(steps);
  }

  function withAccepted(steps: readonly SourceChange[]): ControlPlaneState | undefined {
    const fresh = { store, resources };
    history = createHistory();
    store = createStore(checks, source.platform, validated);
    if (fresh.store.state.services) store.applyServices(fresh.store.state.services);
    resources = new Map();
    try {
      observe(reported.keys());
      for (const step of steps) {
        for (const key of runSteps(settleSource(step))) due.add(key);
        state = runSteps(stateAfter()) ?? state;
        history.add(store.state.stored, state!.issues);
      }
      const restored = state!;
      state = undefined;
      if (followSettings()) return undefined;
      log.get('config').info({}, 'accepted versions of resources restored');
      return runSteps(stateAfter()) ?? restored;
    } catch (error) {
      const reason = (error as Error).message;
      log.get('config').error({ reason }, 'failed to restore accepted versions of resources');
      const left = [...store.state.stored.keys()].filter((key) => !fresh.store.state.stored.has(key));
      ({ store, resources } = fresh);
      translation = undefined;
      for (const key of left) follow(key, undefined);
      for (const [key, { resource }] of store.state.stored) follow(key, resource);
      history = createHistory();
      state = undefined;
      return runSteps(stateAfter());
    }
  }

  /**
   * Publishes the first state when all Services are known: without their endpoints, a control plane that restarts would take them from its
   * proxies. Waits no longer than the Settings allow.
   */
  async function warm(listing: Promise<void>, began: number): Promise<void> {
    const timeoutMs = warmingTimeoutMs(
      store.state.stored.get(settingsKey())?.resource?.spec as SettingsSpec | undefined,
    );
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<'timeout'>((resolve) => {
      timer = startTimer(() => resolve('timeout'), Math.max(0, timeoutMs - (performance.now() - began)));
    });
    const closed = new Promise<'closed'>((resolve) =>
      closing.signal.addEventListener('abort', () => resolve('closed')),
    );
    const result = await Promise.race([listing, timeout, closed]).finally(() => clearTimeout(timer));
    if (result === 'closed') return;
    if (result === 'timeout') {
      const text = 'Services are not listed yet: starting without their endpoints (endpointsWarmingTimeout)';
      log.get('config').error({ timeoutMs }, text);
      if (!store.state.services) store.applyServices(new Map());
      lacksServices = true;
      void listing.then(servicesListed, () => {});
    }
    isWarming = false;
    take(() => NO_KEYS);
  }

  /** Publishes the state again, now as a complete one. */
  function servicesListed(): void {
    lacksServices = false;
    if (!state?.lacksServices) return;
    const { lacksServices: _, ...complete } = state;
    state = Object.freeze(complete);
    for (const listener of listeners) runSteps(publish(listener, state));
  }

  /** Resolves when all changes that the source has delivered are published, with the directories of the Settings. */
  async function settled(): Promise<void> {
    await slicing;
    await named?.settled();
    await slicing;
  }

  function* publish(listener: StateListener, state: ControlPlaneState): Steps<void> {
    try {
      const steps = listener(state) as Partial<Steps<unknown>> | undefined;
      if (typeof steps?.next === 'function') yield* steps as Steps<unknown>;
    } catch (error) {
      report.failed(error);
    }
  }

  return {
    get state() {
      return state;
    },
    secrets,
    async start() {
      const listing = services?.start((changes) => {
        if (!state) store.applyServices(changes);
        else take(() => (store.applyServices(changes), NO_KEYS));
      });
      // Handled below.
      listing?.catch(() => {});
      const began = performance.now();
      await source.start(takeChange);
      await settled();
      if (listing && !closing.signal.aborted) await warm(listing, began);
      await slicing;
    },
    settled,
    observe(key, observed, observer = '') {
      const known = reported.get(key) ?? new Map<string, Observed>();
      if (observed) reported.set(key, known.set(observer, observed));
      else if (known.delete(observer) && known.size === 0) reported.delete(key);
      take(() => observe([key]));
    },
    locate: (key, path) => store.locate(key, path),
    preview: (change) =>
      new Promise((resolve, reject) => {
        whenPublished(() => {
          try {
            resolve(previewNow(change));
          } catch (error) {
            reject(error as Error);
          }
        });
      }),
    subscribe(listener) {
      listeners.add(listener);
      if (state) runSteps(publish(listener, state));
      return () => void listeners.delete(listener);
    },
    async close() {
      closing.abort();
      for (const watch of [...watches, dates]) watch.close();
      await Promise.all([source.close(), services?.close(), named?.close()]);
      await slicing;
      for (const call of afterWork) call();
      // Closed between the parts of its publication.
      save();
      await accepted?.close();
    },
  };
}

/** A change with fewer steps is applied before `take` returns. */
const STEPS_AT_ONCE = 600;

function warmingTimeoutMs(spec: SettingsSpec | undefined): number {
  return parseDuration(spec?.gw?.endpointsWarmingTimeout ?? DEFAULTS.endpointsWarmingTimeout);
}

/**
 * Reads, validates and translates a directory once; certificate files are not read. Throws `ERR_CORE_DIRECTORY_UNREADABLE` when
 * it cannot be read; all other problems are in `issues` and `statuses`, and are only logged if `log` is given.
 *
 * @example
 * const { issues } = await loadDirectory('resources');
 * for (const issue of issues) console.log(formatIssue(issue));
 */
export async function loadDirectory(
  directory: string,
  options: Omit<ControlPlaneOptions, 'source'> = {},
): Promise<ControlPlaneState> {
  const { log = silentLoggers } = options;
  const directories = { base: directory, watch: false };
  const source = directorySource(directory, { watch: false, log: log.get('config') });
  return loadSource(source, { directories, ...options });
}

/**
 * Reads, validates and translates the initial content of a source once; certificate files are not read. Problems are in `issues` and
 * `statuses`, and are only logged if `log` is given. Rejects if the source cannot start.
 *
 * @example
 * const { snapshots } = await loadSource(memorySource({ shop: 'kind: Upstream …' }));
 */
export async function loadSource(
  source: Source,
  options: Omit<ControlPlaneOptions, 'source'> = {},
): Promise<ControlPlaneState> {
  const controlPlane = createControlPlane({ certificateFiles: false, log: silentLoggers, ...options, source });
  await controlPlane.start();
  await controlPlane.close();
  return controlPlane.state!;
}

const NO_SETTINGS: SettingsSpec = {};
/** Observer of the directories of the Settings. */
const DIRECTORIES = 'directories';

/** Returns a problem for each directory of Settings that this control plane does not read. */
function unreadDirectories(spec: SettingsSpec): ObservedProblem[] {
  const message = 'the directory is not read here: only gateways read the directories of Settings';
  return directoriesIn(spec, '').map(({ field: path }) => ({ severity: 'warning', path, message }));
}

interface TranslatedState {
  readonly translation: Translation | undefined;
  readonly translationMs: number;
  readonly lacksServices: boolean;
  readonly defaultGateways: DefaultGateways | undefined;
}

function toState(
  store: Store,
  resources: ReadonlyMap<ResourceKey, Resource>,
  { translation, translationMs, lacksServices, defaultGateways }: TranslatedState,
): ControlPlaneState {
  const { revision, stored } = store.state;
  const { proxies = [], snapshots = new Map(), statuses = new Map(), problems = [], memo } = translation ?? {};
  const issues = issuesOf(store, problems);
  const rejected = rejectedDocuments(store);
  const unserved: ControlPlaneState['unservedListeners'] = memo ? unservedListeners(memo) : new Map();
  const served = {
    translationMs,
    proxies,
    snapshots,
    unservedListeners: unserved,
    replacedDefaultPorts: replacedDefaultPorts({ resources, rejected }, defaultGateways),
    secrets: secretsOf(stored),
    authConfigs: memo?.authConfigs ?? new Map(),
    settings: memo?.settings.served ?? DEFAULT_SNAPSHOT_SETTINGS,
    ...(lacksServices && { lacksServices }),
  };
  return Object.freeze({ revision, resources, rejected, issues, statuses, ...served });
}

const NO_KEYS: ReadonlySet<ResourceKey> = new Set();

function rejectedDocuments({ state: { faulty } }: Store): ReadonlyMap<ResourceKey, object> {
  const rejected = new Map<ResourceKey, object>();
  for (const [key, { written }] of faulty) if (written) rejected.set(key, written);
  return rejected;
}

/** Returns the resources in use, updated for the changed keys. */
function resourcesAfter(
  before: ReadonlyMap<ResourceKey, Resource>,
  changed: ReadonlySet<ResourceKey>,
  { stored }: Store['state'],
): ReadonlyMap<ResourceKey, Resource> {
  return withChanges(
    before,
    Array.from(changed, (key) => [key, completeResource(stored.get(key))] as const),
  );
}

/** Merges the observations of several observers about one resource. */
function mergeObserved(parts: readonly (Observed | undefined)[]): Observed | undefined {
  const found = parts.filter((part) => part !== undefined);
  if (found.length <= 1) return found[0];
  const problems = found.flatMap((part) => part.problems);
  const notes = found.flatMap((part) => part.notes);
  const revisions = found.flatMap((part) => part.filesRevision ?? []);
  const filesRevision = revisions.length > 0 && { filesRevision: revisions.reduce((sum, revision) => sum + revision) };
  return Object.assign({}, ...found, { problems, notes, ...filesRevision }) as Observed;
}

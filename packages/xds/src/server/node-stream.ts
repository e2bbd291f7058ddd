import type { ProxyRejection } from '@edge-gateway/core';
import type { DeltaRequest, ErrorDetail, WorldRequest } from '../protocol/discovery.ts';
import { rejectionsOf } from '../protocol/rejection.ts';
import {
  differenceFrom,
  differenceOf,
  NO_RESOURCES,
  type ResourceDifference,
  type ResourceSet,
  type TypedResources,
} from '../resources/resource-set.ts';
import { TYPE } from '../resources/resource-type.ts';
import { chunksOf, everything, PreparedResponse, type Chunk } from './chunk.ts';
import type { NodeIdentity } from './node-identity.ts';
import type { ProxyResources, Translation } from './translation.ts';

/** The dependencies of a stream. */
export interface StreamParts {
  readonly identity: NodeIdentity;
  readonly address: string;
  readonly translations: readonly Translation[];
  readonly resources: ProxyResources;
  readonly now: () => number;
  /** True over TLS or loopback. */
  readonly isPrivate: boolean;
  /** Resolves when the connection has accepted the response, so that at most one response is queued. */
  write(response: PreparedResponse): Promise<void>;
  /** Called after an acknowledgement or a rejection. */
  onAnswer(rejected: boolean): void;
}

/** A type that a node subscribed to. */
interface Subscription {
  readonly type: string;
  readonly translation: Translation;
  isWildcard: boolean;
  readonly names: Set<string>;
  /** The set that was sent to a wildcard subscription; shared with other nodes. */
  at: TypedResources | undefined;
  /** Versions by name that were sent to the node or that it announced at the start; unused if `at` is set. */
  known: Map<string, string>;
  /** Names to send regardless of the version of the node. */
  readonly again: Set<string>;
  /** Responses that are not acknowledged yet, by nonce. */
  readonly outstanding: Map<string, Chunk>;
  /** Of the newest response; a request with it is up to date, even if the response was answered already. */
  lastNonce: string;
  /** True after the first response. */
  wasSent: boolean;
  /** True if the node announced resources at the start. */
  hasState: boolean;
}

/** Maximum number of stored rejections per node; further ones only mark its state as stale. */
const MAX_REJECTIONS = 1000;
/** Maximum total length of all names that a node subscribes to. */
const MAX_NAMES_LENGTH = 16 * 1024 * 1024;

/** A subscription that is not allowed. */
export class RejectedSubscription extends Error {}

/**
 * One stream of a node. No update is sent while a response is not acknowledged; the next update then uses the newest state. Referenced
 * types are sent before the types that refer to them, and removed after them.
 */
export class NodeStream {
  readonly connectedAt: number;
  readonly identity: NodeIdentity;
  readonly address: string;
  /** The rejections of the node, by type and name. */
  readonly rejected = new Map<string, ProxyRejection>();
  /** The last set that the node answered completely. */
  answered: ResourceSet | undefined;
  answeredAt: number | undefined;
  readonly #parts: StreamParts;
  readonly #subscriptions = new Map<string, Subscription>();
  readonly #sent = new Map<Translation, ResourceSet>();
  #namesLength = 0;
  #nonce = 0;
  #isSending = false;
  #isDue = false;
  /** True after the node was told that there is nothing to receive yet. */
  #wasHeld = false;
  #isClosed = false;

  constructor(parts: StreamParts) {
    this.#parts = parts;
    this.identity = parts.identity;
    this.address = parts.address;
    this.connectedAt = parts.now();
  }

  close(): void {
    this.#isClosed = true;
  }

  /** Number of responses that are not acknowledged yet. */
  get pending(): number {
    let sum = 0;
    for (const { outstanding } of this.#subscriptions.values()) sum += outstanding.size;
    return sum;
  }

  /** True if the node has acknowledged the newest state and rejected nothing. */
  get isCurrent(): boolean {
    const [translation] = this.#sent.keys();
    return (
      translation !== undefined && this.answered === this.#parts.resources.of(translation) && this.rejected.size === 0
    );
  }

  /** Handles a request of the delta protocol. Throws `RejectedSubscription`, and an `Error` for too many names. */
  receiveDelta(request: DeltaRequest): void {
    const { type_url: type, response_nonce: nonce = '', error_detail: error } = request;
    const { resource_names_subscribe: add = [], resource_names_unsubscribe: remove = [] } = request;
    let subscription = this.#subscriptions.get(type);
    if (!subscription) {
      subscription = this.#subscribe(type);
      if (!subscription) return;
      subscription.isWildcard = add.length === 0;
      subscription.known = new Map(Object.entries(request.initial_resource_versions ?? {}));
      subscription.hasState = subscription.known.size > 0;
    }
    this.#answer(subscription, nonce, error);
    for (const name of add) {
      if (name === '*') {
        subscription.isWildcard = true;
        continue;
      }
      this.#addName(subscription, name);
      if (subscription.wasSent) subscription.again.add(name);
    }
    for (const name of remove) {
      if (name === '*') this.#endWildcard(subscription);
      if (subscription.names.delete(name)) this.#namesLength -= name.length;
      subscription.again.delete(name);
      if (!subscription.isWildcard) subscription.known.delete(name);
    }
    this.send();
  }

  /** Handles a request of the state-of-the-world protocol. Throws `RejectedSubscription`. */
  receiveWorld({
    type_url: type,
    response_nonce: nonce = '',
    error_detail: error,
    resource_names: names = [],
    version_info: version = '',
  }: WorldRequest): void {
    let subscription = this.#subscriptions.get(type);
    if (!subscription) {
      subscription = this.#subscribe(type);
      if (!subscription) return;
      subscription.hasState = version !== '';
    } else if (!this.#answer(subscription, nonce, error) && nonce !== '' && nonce !== subscription.lastNonce) {
      // A stale request, sent before the newest response arrived: another one follows.
      return;
    }
    const wanted = new Set(names.filter((name) => name !== '*'));
    const isWildcard = names.length === 0 || names.includes('*');
    const isSame = isWildcard === subscription.isWildcard && isSameSet(wanted, subscription.names);
    subscription.isWildcard = isWildcard;
    subscription.names.clear();
    for (const name of wanted) subscription.names.add(name);
    // State of the world: every response contains all subscribed resources.
    if (!isSame && subscription.wasSent) subscription.wasSent = false;
    this.send();
  }

  /** Sends the changes now, or after the pending acknowledgements. */
  send(): void {
    this.#isDue = true;
    if (!this.#isSending) void this.#sendAll();
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true;
    try {
      // Handle requests that arrive together with one update.
      await Promise.resolve();
      while (this.#isDue && !this.#isClosed) {
        this.#isDue = false;
        for (const translation of this.#parts.translations) {
          for (const [subscription, chunk] of this.#update(translation)) {
            const nonce = String(++this.#nonce);
            subscription.outstanding.set(nonce, chunk);
            subscription.lastNonce = nonce;
            await this.#parts.write(new PreparedResponse(chunk, nonce));
            if (this.#isClosed) return;
          }
        }
      }
    } catch {
      // The connection was lost, which closes the stream.
    } finally {
      this.#isSending = false;
    }
  }

  /** Returns the responses of an update. */
  #update(translation: Translation): (readonly [Subscription, Chunk])[] {
    const own = [...this.#subscriptions.values()].filter((each) => each.translation === translation);
    const isWaiting = own.some(({ outstanding }) => outstanding.size > 0);
    // An Envoy acknowledges a new cluster only when it has its endpoints: new names cannot wait for other types.
    const due = own.filter(({ type, wasSent, outstanding, again }) => {
      if (!isWaiting) return true;
      return outstanding.size === 0 && (!wasSent || again.size > 0 || translation.independent?.has(type));
    });
    // States between two acknowledgements need not be encoded, nor those of a translation that the node does not use.
    if (due.length === 0) return [];
    const { resources } = this.#parts;
    if (resources.isPartial && this.#mayHaveState(translation, own)) return this.#hold(translation);
    const set = resources.of(translation);
    if (!set) return [];
    const order = translation.types.flatMap((type) => due.find((each) => each.type === type) ?? []);
    const changes: (readonly [Subscription, Chunk])[] = [];
    const removals: (readonly [Subscription, Chunk])[] = [];
    const end: (readonly [Subscription, Chunk])[] = [];
    for (const subscription of order) {
      const { changed, removed } = this.#changesOf(subscription, set.types.get(subscription.type) ?? NO_RESOURCES);
      (subscription.type === translation.completion ? end : changes).push(
        ...changed.map((chunk) => [subscription, chunk] as const),
      );
      if (removed) removals.unshift([subscription, removed]);
    }
    const all = [...changes, ...removals, ...end];
    if (all.length > 0 || !this.#sent.has(translation)) this.#sent.set(translation, set);
    else if (!isWaiting) this.#skip(translation, set);
    return all;
  }

  /** A node says what it has type by type; the type that completes updates is the last. */
  #mayHaveState({ completion }: Translation, own: readonly Subscription[]): boolean {
    return own.some(({ hasState }) => hasState) || (completion !== undefined && !this.#subscriptions.has(completion));
  }

  /** Returns an empty response instead of a partial state, once: a node must know that the control plane is alive. In the other protocol it would say that there is no resource. */
  #hold({ completion }: Translation): (readonly [Subscription, Chunk])[] {
    const subscription = completion === undefined ? undefined : this.#subscriptions.get(completion);
    if (this.#wasHeld || this.#isWorld || !subscription) return [];
    this.#wasHeld = true;
    return [[subscription, { type: subscription.type, version: '', resources: [], removed: [] }]];
  }

  /** A set without changes for this node needs no answer. */
  #skip(translation: Translation, set: ResourceSet): void {
    if (this.answered === this.#sent.get(translation)) this.answered = set;
    this.#sent.set(translation, set);
  }

  #changesOf(subscription: Subscription, target: TypedResources): { changed: readonly Chunk[]; removed?: Chunk } {
    const isFirst = !subscription.wasSent;
    subscription.wasSent = true;
    return this.#isWorld ? worldOf(subscription, target, isFirst) : deltaOf(subscription, target, isFirst);
  }

  #isWorld = false;

  /** Uses the state-of-the-world protocol. */
  useWorld(): this {
    this.#isWorld = true;
    return this;
  }

  #subscribe(type: string): Subscription | undefined {
    const translation = this.#parts.translations.find(({ types }) => types.includes(type));
    if (!translation) return undefined;
    if (translation.confidential.has(type) && !this.#parts.isPrivate)
      throw new RejectedSubscription(
        'secrets are sent only to proxies with a client certificate, or on loopback: enable TLS with a client CA on the control plane',
      );
    const subscription: Subscription = {
      type,
      translation,
      isWildcard: false,
      names: new Set(),
      at: undefined,
      known: new Map(),
      again: new Set(),
      outstanding: new Map(),
      lastNonce: '',
      wasSent: false,
      hasState: false,
    };
    this.#subscriptions.set(type, subscription);
    return subscription;
  }

  #addName({ names }: Subscription, name: string): void {
    if (names.has(name)) return;
    this.#namesLength += name.length;
    if (this.#namesLength > MAX_NAMES_LENGTH)
      throw new Error(`the names of all subscriptions must have at most ${MAX_NAMES_LENGTH} characters`);
    names.add(name);
  }

  #endWildcard(subscription: Subscription): void {
    subscription.isWildcard = false;
    const { at, names } = subscription;
    if (at)
      subscription.known = new Map(
        [...names].flatMap((name) => {
          const version = at.byName.get(name)?.version;
          return version === undefined ? [] : [[name, version] as const];
        }),
      );
    subscription.at = undefined;
  }

  /** Records an acknowledgement or a rejection; returns false for an unknown nonce. */
  #answer(subscription: Subscription, nonce: string, error: ErrorDetail | null | undefined): boolean {
    const chunk = subscription.outstanding.get(nonce);
    if (!chunk) return false;
    subscription.outstanding.delete(nonce);
    const idOf = (name: string): string => `${subscription.type} ${name}`;
    for (const { name } of chunk.resources) this.rejected.delete(idOf(name));
    for (const name of chunk.removed) this.rejected.delete(idOf(name));
    this.rejected.delete(idOf(''));
    // A proxy answers for its whole state, also for parts of other names.
    if (subscription.type === TYPE.snapshot)
      for (const id of this.rejected.keys()) if (id.startsWith(idOf(''))) this.rejected.delete(id);
    if (error) {
      for (const rejection of rejectionsIn(error, chunk))
        if (this.rejected.size < MAX_REJECTIONS)
          this.rejected.set(`${rejection.type} ${rejection.resource}`, rejection);
    }
    if (this.pending === 0) {
      const set = this.#sent.get(subscription.translation);
      if (set) {
        this.answered = set;
        this.answeredAt = this.#parts.now();
      }
    }
    this.#parts.onAnswer(Boolean(error));
    return true;
  }
}

/** Returns the rejections of a response. An Envoy names the rejected resources only in its message. */
function rejectionsIn(error: ErrorDetail, { type, resources }: Chunk): readonly ProxyRejection[] {
  return rejectionsOf(error, type).flatMap((rejection) => {
    if (rejection.resource !== '') return rejection;
    const named = resources.filter(({ name }) => name !== '' && rejection.message.includes(name));
    const rejected = named.length === 0 && resources.length === 1 ? resources : named;
    return rejected.length === 0 ? rejection : rejected.map(({ name }) => ({ ...rejection, resource: name }));
  });
}

/** Returns the difference to the state of a node. */
function deltaOf(
  subscription: Subscription,
  target: TypedResources,
  isFirst: boolean,
): { changed: readonly Chunk[]; removed?: Chunk } {
  const { type, isWildcard, again, at } = subscription;
  const { version } = target;
  let difference: ResourceDifference;
  if (!isWildcard) difference = namedDifference(subscription, target);
  else if (at) difference = differenceOf(at, target);
  else if (subscription.known.size === 0) difference = everything(target);
  else difference = differenceFrom(subscription.known, target);
  if (isWildcard) {
    subscription.at = target;
    subscription.known = new Map();
  }
  const changed = [...chunksOf(type, target, difference)];
  const sent = new Set(difference.changed.map(({ name }) => name));
  const repeated = [...again].flatMap((name) => (sent.has(name) ? [] : (target.byName.get(name) ?? [])));
  again.clear();
  if (repeated.length > 0) changed.push({ type, version, resources: repeated, removed: [] });
  const { removed } = difference;
  if (isFirst && changed.length === 0 && removed.length === 0)
    changed.push({ type, version, resources: [], removed: [] });
  return { changed, ...(removed.length > 0 && { removed: { type, version, resources: [], removed } }) };
}

/** Reports unknown names as removed once, so that the node does not wait for them. */
function namedDifference(subscription: Subscription, { byName }: TypedResources): ResourceDifference {
  const { names, known } = subscription;
  const found = [...names].flatMap((name) => byName.get(name) ?? []);
  const changed = found.filter(({ name, version }) => known.get(name) !== version);
  const removed = [...names].filter((name) => !byName.has(name) && known.get(name) !== ABSENT);
  subscription.known = new Map([...names].map((name) => [name, byName.get(name)?.version ?? ABSENT]));
  return { changed, removed };
}

/** The version of a resource that was reported to the node as missing. */
const ABSENT = '';

/** Returns all subscribed resources of a node if one of them changed. */
function worldOf(
  subscription: Subscription,
  target: TypedResources,
  isFirst: boolean,
): { readonly changed: readonly Chunk[]; readonly removed?: Chunk } {
  const { type, isWildcard, names, known } = subscription;
  if (isWildcard) {
    const { at = NO_RESOURCES } = subscription;
    subscription.at = target;
    if (isFirst) return { changed: [worldChunk(type, target)] };
    const { changed, removed } = differenceOf(at, target);
    if (removed.length === 0) return { changed: changed.length > 0 ? [worldChunk(type, target)] : [] };
    // What is removed stays until nothing refers to it any more.
    const kept = [...target.byName.values(), ...removed.map((name) => at.byName.get(name)!)];
    const first: Chunk = { type, version: `${target.version}+${removed.length}`, resources: kept, removed: [] };
    return { changed: changed.length > 0 ? [first] : [], removed: worldChunk(type, target) };
  }
  subscription.at = undefined;
  const resources = [...names].flatMap((name) => target.byName.get(name) ?? []);
  const isSame = resources.length === known.size && resources.every(({ name, version }) => known.get(name) === version);
  subscription.known = new Map(resources.map(({ name, version }) => [name, version]));
  if (isSame && !isFirst) return { changed: [] };
  return { changed: [{ type, version: target.version, resources, removed: [] }] };
}

const worldChunks = new WeakMap<TypedResources, Chunk>();

function worldChunk(type: string, target: TypedResources): Chunk {
  let chunk = worldChunks.get(target);
  if (chunk?.type !== type) {
    chunk = { type, version: target.version, resources: [...target.byName.values()], removed: [] };
    worldChunks.set(target, chunk);
  }
  return chunk;
}

function isSameSet(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every((each) => b.has(each));
}

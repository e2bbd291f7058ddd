import {
  withChanges,
  type ProxyRejection,
  type Secrets,
  type SecretValue,
  type Snapshot,
  type UnservedListener,
} from '@edge-gateway/core';
import { buildState, type Built, type HeldByType, type HeldResource } from './build-state.ts';
import type { ReceivedResource, SavedResource } from './resource-set.ts';
import { contentOf, InvalidField, readBody, readDomains } from './resource-body.ts';
import { TYPE } from './resource-type.ts';
import { referenceKey } from './secret-reference.ts';

/** A received state. Unchanged parts are the same objects as in the previous state. */
export interface DecodedState {
  readonly snapshot: Snapshot;
  readonly unserved: readonly UnservedListener[];
  /** Resources that cannot be used. Their last accepted versions are part of the state. */
  readonly rejections: readonly ProxyRejection[];
}

/** The resources of a proxy, from which states are built. */
export interface StateDecoder {
  /** Of the state that was built last. */
  readonly secrets: Secrets;
  /** The same by their names in the state. */
  secretValues(): ReadonlyMap<string, SecretValue>;
  /** Stores a new version of a resource. */
  receive(resource: ReceivedResource): void;
  /** Stores a resource that `resources` returned earlier. */
  restore(resource: SavedResource): void;
  remove(type: string, name: string): void;
  /** True once the snapshot and all its resources have been received. */
  readonly isComplete: boolean;
  /** Returns the received resources of a type that this version cannot serve. */
  unusable(type: string): readonly ProxyRejection[];
  /**
   * Builds the state from all received resources. `without` are rejected resources: their last accepted version is used instead, if any.
   */
  build(without?: readonly ProxyRejection[]): DecodedState;
  /** Accepts the state that `build` returned last. */
  accept(): void;
  /** False before `accept` was called. */
  readonly hasAccepted: boolean;
  /** Discards resources received since the accepted state. */
  discard(): void;
  /** Returns the resources of the accepted state. */
  resources(): readonly SavedResource[];
  /** Returns the versions of the resources of a type in the accepted state, by name. */
  versions(type: string): Readonly<Record<string, string>>;
}

/** The resources of one type as they were received. */
class Received {
  /** All versions, also those of resources that cannot be read. */
  readonly versions = new Map<string, string>();
  /** Sum of the versions. */
  sum = 0n;
  /** By the name of the resource. */
  readonly unreadable = new Map<string, ProxyRejection>();
  #held: ReadonlyMap<string, HeldResource> = new Map();
  /** Later changes; `undefined` for removed resources. */
  #changes = new Map<string, HeldResource | undefined>();

  get(name: string): HeldResource | undefined {
    return this.#changes.has(name) ? this.#changes.get(name) : this.#held.get(name);
  }

  set(name: string, resource: HeldResource | undefined): void {
    this.#changes.set(name, resource);
  }

  /** A map that is never modified; the same one until a resource changes. */
  get held(): ReadonlyMap<string, HeldResource> {
    if (this.#changes.size > 0) {
      this.#held = withChanges(this.#held, this.#changes);
      this.#changes = new Map();
    }
    return this.#held;
  }
}

const valueOf = (version: string | undefined): bigint => {
  if (version === undefined) return 0n;
  return /^[0-9a-f]+$/.test(version) ? BigInt(`0x${version}`) : -1n;
};

/** The version of a resource of which only a part is used. */
const UNKNOWN_VERSION = '';

/** Says what is different about a virtual host of which not even the domains can be denied. */
const UNKNOWN_DOMAINS = ' (its domains are unknown: other virtual hosts may respond to their requests)';

const NO_SECRETS: ReadonlyMap<string, SecretValue> = new Map();

/** Options of {@link createStateDecoder}. */
export interface StateDecoderOptions {
  /** True if another process of this version has checked the content of the resources. Default false. */
  readonly isTrusted?: boolean;
}

/**
 * Creates a decoder without any resources. It checks what it receives: of a resource that this version cannot serve as a whole, the last
 * accepted version is used. A virtual host that has none responds with 500.
 */
export function createStateDecoder({ isTrusted = false }: StateDecoderOptions = {}): StateDecoder {
  let accepted: Built | undefined;
  let built: Built | undefined;
  /** True if secrets of the built state have not been received. */
  let lacksSecrets = false;
  let received = new Map<string, Received>();

  const secretNamed = (name: string): SecretValue | undefined => built?.secrets.get(name);

  function receivedOf(type: string): Received {
    let found = received.get(type);
    if (!found) received.set(type, (found = new Received()));
    return found;
  }

  function setVersion(of: Received, name: string, version: string | undefined): void {
    of.sum += valueOf(version) - valueOf(of.versions.get(name));
    if (version === undefined) of.versions.delete(name);
    else of.versions.set(name, version);
  }

  function hasVersion(type: string, name: string, version: string): boolean {
    return receivedOf(type).versions.get(name) === version;
  }

  function store(resource: SavedResource): void {
    const { type, name, version, content } = resource;
    const of = receivedOf(type);
    setVersion(of, name, version);
    const known = of.get(name) ?? accepted?.held.get(type)?.get(name);
    try {
      of.set(name, { ...resource, body: readBody(type, content, { before: known?.body, isTrusted }) });
      of.unreadable.delete(name);
    } catch (error) {
      const { field = '', message } = error as Partial<InvalidField> & Error;
      const isNewHost = type === TYPE.virtualHost && !known;
      const domains = isNewHost && readDomains(content);
      const effect = isNewHost && !domains ? UNKNOWN_DOMAINS : '';
      of.unreadable.set(name, { type, resource: name, field, message: message + effect });
      // Without its version: a control plane sends it again after a reconnect, so that it is rejected again.
      if (domains) of.set(name, { ...resource, version: UNKNOWN_VERSION, body: domains });
    }
  }

  function heldByType(): HeldByType {
    return new Map([...received].map(([type, { held }]) => [type, held]));
  }

  /** Returns the versions of all types in the received snapshot; `undefined` without one. */
  function versionsOfAll(): Readonly<Record<string, string>> | undefined {
    const [manifest] = received.get(TYPE.snapshot)?.held.values() ?? [];
    return manifest?.body['versions'] as Readonly<Record<string, string>> | undefined;
  }

  function isReceived([type, version]: readonly [type: string, version: string]): boolean {
    return (received.get(type)?.sum ?? 0n).toString(16) === version;
  }

  return {
    secrets: {
      get: ({ namespace, name }) => secretNamed(`${namespace}/${name}`),
      files: (files) => secretNamed(referenceKey({ files })),
      sds: (sds) => secretNamed(referenceKey({ sds })),
      get isPending() {
        return lacksSecrets;
      },
    },
    secretValues: () => built?.secrets ?? NO_SECRETS,
    receive({ type, name, version, value }) {
      if (hasVersion(type, name, version)) return;
      store({ type, name, version, content: contentOf(value) });
    },
    restore(resource) {
      if (!hasVersion(resource.type, resource.name, resource.version)) store(resource);
    },
    remove(type, name) {
      const of = receivedOf(type);
      setVersion(of, name, undefined);
      of.set(name, undefined);
      of.unreadable.delete(name);
    },
    get isComplete() {
      const versions = versionsOfAll();
      return versions !== undefined && Object.entries(versions).every(isReceived);
    },
    unusable: (type) => [...(received.get(type)?.unreadable.values() ?? [])],
    build(without = []) {
      const unreadable = [...received.values()].flatMap((of) => [...of.unreadable.values()]);
      const { result, rejections } = buildState(heldByType(), [...unreadable, ...without], accepted);
      built = result;
      lacksSecrets = Object.entries(versionsOfAll() ?? {}).some((each) => each[0] === TYPE.secret && !isReceived(each));
      const { snapshot, unserved } = result;
      return { snapshot, unserved, rejections: [...unreadable, ...rejections] };
    },
    accept() {
      accepted = built ?? accepted;
    },
    get hasAccepted() {
      return accepted !== undefined;
    },
    discard() {
      built = accepted;
      received = new Map();
      for (const [type, held] of accepted?.held ?? []) {
        const of = receivedOf(type);
        for (const [name, resource] of held) {
          of.set(name, resource);
          setVersion(of, name, resource.version);
        }
      }
    },
    resources: () =>
      [...(accepted?.held.values() ?? [])].flatMap((held) =>
        Array.from(held.values(), ({ type, name, version, content }) => ({ type, name, version, content })),
      ),
    versions: (type) =>
      Object.fromEntries(Array.from(accepted?.held.get(type)?.values() ?? [], ({ name, version }) => [name, version])),
  };
}

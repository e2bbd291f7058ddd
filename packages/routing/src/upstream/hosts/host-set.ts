import type { Endpoint } from '@edge-gateway/core';
import { Host } from './host.ts';

/** Receives the changes of a {@link HostSet}. */
export interface HostSetListener {
  /** Hosts were added or removed, or changed weight, priority, locality or metadata (both lists are then empty). */
  onMembers?(added: readonly Host[], removed: readonly Host[]): void;
  /** A health flag of a host changed. */
  onHealth?(host: Host): void;
}

/** The hosts of one upstream. */
export class HostSet {
  /** Keeps hosts that health checks find healthy when they are removed, until a check fails. Set by active health checks. */
  keepsHealthy = false;
  #byKey = new Map<string, Host>();
  #hosts: readonly Host[] = [];
  readonly #listeners = new Set<HostSetListener>();

  /** All hosts, in the order of their endpoints. The same array until hosts are added or removed. */
  get all(): readonly Host[] {
    return this.#hosts;
  }

  /** Calls the listener at each change until the returned function is called. */
  watch(listener: HostSetListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Replaces the endpoints. Hosts of endpoints that stay are the same objects, with their state. */
  update(endpoints: readonly Endpoint[]): void {
    const before = this.#byKey;
    const now = new Map<string, Host>();
    const added: Host[] = [];
    let changed = false;
    for (const endpoint of endpoints) {
      const key = keyIn(now, endpoint);
      const known = before.get(key);
      if (known) {
        if (known.redeclare(endpoint)) changed = true;
        known.setFlag('pendingDynamicRemoval', false);
      } else added.push(new Host(endpoint, this.#onHealth));
      now.set(key, known ?? added.at(-1)!);
    }
    for (const [key, host] of before) {
      if (now.has(key)) continue;
      if (!this.keepsHealthy || !host.isHealthy) continue;
      now.set(key, host);
      host.setFlag('pendingDynamicRemoval', true);
    }
    this.#replace(now, added, changed);
  }

  /** Continues the slow start of hosts that a previous version of the upstream had. */
  continueFrom(before: HostSet): void {
    for (const [key, host] of this.#byKey) {
      const known = before.#byKey.get(key);
      if (known) host.healthySince = known.healthySince;
    }
  }

  /** Removes a host at once. */
  remove(host: Host): void {
    const rest = [...this.#byKey].filter(([, each]) => each !== host);
    this.#replace(new Map(rest), [], false);
  }

  #replace(now: Map<string, Host>, added: readonly Host[], changed: boolean): void {
    const kept = new Set(now.values());
    const removed = this.#hosts.filter((host) => !kept.has(host));
    for (const host of removed) host.isMember = false;
    this.#byKey = now;
    if (added.length === 0 && removed.length === 0 && !changed) return;
    this.#hosts = [...kept];
    for (const listener of this.#listeners) listener.onMembers?.(added, removed);
  }

  readonly #onHealth = (host: Host): void => {
    if (!host.isMember) return;
    for (const listener of this.#listeners) listener.onHealth?.(host);
    if (host.hasFlag('pendingDynamicRemoval') && !host.isHealthy) this.remove(host);
  };
}

/** An endpoint that is declared twice is two hosts. */
function keyIn(known: ReadonlyMap<string, Host>, { address, port, sni = '', hostname = '' }: Endpoint): string {
  const base = `${address} ${port} ${sni} ${hostname}`;
  let key = base;
  for (let count = 2; known.has(key); count++) key = `${base} ${count}`;
  return key;
}

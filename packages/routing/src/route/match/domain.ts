import { withChanges } from '@edge-gateway/core';

export interface DomainEntry<T> {
  /** `a.b`, `*.b`, `*-x.b`, `a.*` or `*`, in lower case. */
  readonly domain: string;
  readonly value: T;
}

/** Wildcard domains by their literal part, and how many of them have each length. */
interface Wildcards<T> {
  readonly entries: ReadonlyMap<string, DomainEntry<T>>;
  /** The longest first. */
  readonly lengths: readonly number[];
}

/**
 * Returns a lookup by host: exact, then longest suffix wildcard, then longest prefix wildcard, then `*`.
 * The port is part of the comparison. The cost does not grow with the number of domains. The first of two equal ones wins.
 *
 * @example
 * const find = createDomainIndex([{ domain: '*.example.com', value: 1 }]);
 * find('api.example.com'); // { domain: '*.example.com', value: 1 }
 */
export function createDomainIndex<T>(domains: Iterable<DomainEntry<T>>): (host: string) => DomainEntry<T> | undefined {
  const index = DomainIndex.of(domains);
  return (host) => index.find(host);
}

/** A lookup by host that is never modified, see {@link createDomainIndex}. */
export class DomainIndex<T> {
  readonly #exact: ReadonlyMap<string, DomainEntry<T>>;
  readonly #suffixes: Wildcards<T>;
  readonly #prefixes: Wildcards<T>;
  readonly #any: DomainEntry<T> | undefined;
  /** True if a domain has several entries, so that the order counts. */
  readonly #hasRivals: boolean;

  private constructor(parts: ReadonlyMap<string, DomainEntry<T>>[], any: DomainEntry<T> | undefined, rivals: boolean) {
    const [exact, suffixes, prefixes] = parts as [...typeof parts] & { readonly length: 3 };
    this.#exact = exact!;
    this.#suffixes = { entries: suffixes!, lengths: lengthsOf(suffixes!) };
    this.#prefixes = { entries: prefixes!, lengths: lengthsOf(prefixes!) };
    this.#any = any;
    this.#hasRivals = rivals;
  }

  static of<T>(domains: Iterable<DomainEntry<T>>): DomainIndex<T> {
    const parts = [0, 1, 2].map(() => new Map<string, DomainEntry<T>>());
    let any: DomainEntry<T> | undefined;
    let rivals = false;
    for (const entry of domains) {
      const place = placeOf(entry.domain);
      if (place === undefined) {
        rivals ||= any !== undefined;
        any ??= entry;
      } else if (parts[place.part]!.has(place.key)) rivals = true;
      else parts[place.part]!.set(place.key, entry);
    }
    return new DomainIndex(parts, any, rivals);
  }

  /** Returns the index after a change at a cost of what changes; `undefined` if the order of all domains counts. */
  after(removed: Iterable<string>, added: Iterable<DomainEntry<T>>): DomainIndex<T> | undefined {
    if (this.#hasRivals) return undefined;
    const changes = [0, 1, 2].map(() => new Map<string, DomainEntry<T> | undefined>());
    let any = this.#any;
    for (const domain of removed) {
      const place = placeOf(domain);
      if (place) changes[place.part]!.set(place.key, undefined);
      else any = undefined;
    }
    const parts = [this.#exact, this.#suffixes.entries, this.#prefixes.entries];
    for (const entry of added) {
      const place = placeOf(entry.domain);
      if (!place) {
        if (any) return undefined;
        any = entry;
        continue;
      }
      const own = changes[place.part]!;
      if (own.has(place.key) ? own.get(place.key) : parts[place.part]!.has(place.key)) return undefined;
      own.set(place.key, entry);
    }
    return new DomainIndex(
      parts.map((part, i) => (changes[i]!.size > 0 ? withChanges(part, changes[i]!) : part)),
      any,
      false,
    );
  }

  find(written: string): DomainEntry<T> | undefined {
    const host = written.toLowerCase();
    return this.#exact.get(host) ?? findSuffix(this.#suffixes, host) ?? findPrefix(this.#prefixes, host) ?? this.#any;
  }
}

/** Returns the map of a domain (exact, suffix or prefix) and its key there; `undefined` for `*`. */
function placeOf(domain: string): { readonly part: number; readonly key: string } | undefined {
  if (domain === '*') return undefined;
  if (domain.startsWith('*')) return { part: 1, key: domain.slice(1) };
  return domain.endsWith('*') ? { part: 2, key: domain.slice(0, -1) } : { part: 0, key: domain };
}

const LENGTHS = new WeakMap<ReadonlyMap<string, unknown>, readonly number[]>();

/** Returns the lengths of the keys of a map, the longest first. */
function lengthsOf(map: ReadonlyMap<string, unknown>): readonly number[] {
  const known = LENGTHS.get(map);
  if (known) return known;
  const lengths = [...new Set(Array.from(map.keys(), (key) => key.length))].sort((a, b) => b - a);
  LENGTHS.set(map, lengths);
  return lengths;
}

function findSuffix<T>({ entries, lengths }: Wildcards<T>, host: string): DomainEntry<T> | undefined {
  for (const length of lengths) {
    if (length >= host.length) continue;
    const found = entries.get(host.slice(host.length - length));
    if (found) return found;
  }
  return undefined;
}

function findPrefix<T>({ entries, lengths }: Wildcards<T>, host: string): DomainEntry<T> | undefined {
  for (const length of lengths) {
    if (length >= host.length) continue;
    const found = entries.get(host.slice(0, length));
    if (found) return found;
  }
  return undefined;
}

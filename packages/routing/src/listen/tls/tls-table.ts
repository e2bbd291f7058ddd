import type { Secrets, TlsConfiguration } from '@edge-gateway/core';
import { createDomainIndex } from '../../route/match/domain.ts';
import { buildTlsEntry, type TlsEntry } from './tls-entry.ts';

/** The certificates of a listener by server name. */
export interface TlsTable {
  readonly entries: readonly TlsEntry[];
  /** Messages about unusable certificates, for the log; the previous version, if any, stays in use. */
  readonly problems: readonly string[];
  /** True if an entry requires client certificates. */
  readonly verifiesClients: boolean;
  /** Returns the entry of a server name: exact, else the longest wildcard `*.b`, else the one for any name. */
  select(serverName: string | undefined): TlsEntry | undefined;
}

/** Builds the table. Unchanged entries of `previous` are reused, so an unchanged table has the same entries. */
export function buildTlsTable(
  configurations: readonly TlsConfiguration[],
  secrets: Secrets,
  previous?: TlsTable,
): TlsTable {
  const before = new Map(previous?.entries.map((entry) => [namesOf(entry.configuration), entry]));
  const entries: TlsEntry[] = [];
  const problems: string[] = [];
  for (const configuration of configurations) {
    const last = before.get(namesOf(configuration));
    try {
      entries.push(buildTlsEntry(configuration, secrets, last));
    } catch (error) {
      problems.push((error as Error).message);
      if (last) entries.push(last);
    }
  }
  const select = createServerNameIndex(entries, ({ configuration }) => configuration);
  return { entries, problems, verifiesClients: entries.some(({ clientRequired }) => clientRequired), select };
}

/** Identifies a configuration across versions: server names are unique within a listener. */
const namesOf = ({ sniDomains }: TlsConfiguration): string => sniDomains.join(' ');

/** Returns true if two entries, perhaps of different versions, accept the same clients for the same server names. */
export function acceptsSameClients(one: TlsEntry, other: TlsEntry): boolean {
  return (
    one.clientRequired === other.clientRequired &&
    one.material.ca === other.material.ca &&
    namesOf(one.configuration) === namesOf(other.configuration) &&
    one.clientNames.join('\n') === other.clientNames.join('\n')
  );
}

/** Returns a lookup by server name: exact, else the longest wildcard `*.b`, else the first value without names. */
export function createServerNameIndex<T>(
  values: readonly T[],
  configurationOf: (value: T) => TlsConfiguration,
): (serverName: string | undefined) => T | undefined {
  const find = createDomainIndex(
    values.flatMap((value) => {
      const { sniDomains } = configurationOf(value);
      const domains = sniDomains.length === 0 ? ['*'] : sniDomains.filter((name) => /^(?:\*$|\*\.|[^*]+$)/.test(name));
      return domains.map((domain) => ({ domain, value }));
    }),
  );
  return (serverName) => find(serverName ?? '')?.value;
}

/** Returns true if two tables have the same entries in the same order, so that handshakes have the same result. */
export function isSameTable(one: TlsTable | undefined, other: TlsTable | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return (
    one.entries.length === other.entries.length &&
    one.entries.every((entry, i) => entry.context === other.entries[i]!.context)
  );
}

import type { Secrets, TlsConfiguration } from '@edge-gateway/core';
import { buildTlsEntry, type TlsEntry } from './tls-entry.ts';

/** The certificates of a listener by server name. */
export interface TlsTable {
  readonly entries: readonly TlsEntry[];
  /** What could not be used, in words for a log; the version before, if there is one, stays in use. */
  readonly problems: readonly string[];
  /** The entry of a server name: exact, else the longest wildcard `*.b`, else the one for any name. */
  select(serverName: string | undefined): TlsEntry | undefined;
}

/** Builds the table; what did not change since `previous` is taken over, so an unchanged table has the same entries. */
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
  return { entries, problems, select: selector(entries) };
}

/** What two versions of one configuration have in common: no two of a listener are for the same names. */
const namesOf = ({ sniDomains }: TlsConfiguration): string => sniDomains.join(' ');

function selector(entries: readonly TlsEntry[]): TlsTable['select'] {
  const exact = new Map<string, TlsEntry>();
  const suffixes = new Map<string, TlsEntry>();
  let any: TlsEntry | undefined;
  for (const entry of entries) {
    const { sniDomains } = entry.configuration;
    if (sniDomains.length === 0) any ??= entry;
    for (const domain of sniDomains) {
      if (domain === '*') any ??= entry;
      else if (domain.startsWith('*.')) suffixes.set(domain.slice(1), entry);
      else exact.set(domain, entry);
    }
  }
  return (serverName) => {
    const name = serverName?.toLowerCase() ?? '';
    const found = exact.get(name);
    if (found) return found;
    for (let dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1)) {
      const wildcard = suffixes.get(name.slice(dot));
      if (wildcard) return wildcard;
    }
    return any;
  };
}

/** True when two tables have the same entries in the same order: no handshake would go differently. */
export function isSameTable(one: TlsTable | undefined, other: TlsTable | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return (
    one.entries.length === other.entries.length &&
    one.entries.every((entry, i) => entry.context === other.entries[i]!.context)
  );
}

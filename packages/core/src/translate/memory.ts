import type { FieldPath, Issue } from '../parse/issue.ts';
import { keyOf, type Kind, type ResourceKey } from '../resource.ts';
import type { SnapshotUpstream } from '../snapshot.ts';
import type { StoredResource, StoreState } from '../store.ts';
import type { AuthConfigTable } from './auth-configs.ts';
import type { ListenerBuild } from './listeners.ts';
import type { TranslationSettings } from './settings.ts';
import type { StatusTable } from './status-table.ts';
import type { Translation } from './translation.ts';
import type { UpstreamTable } from './upstreams.ts';

/** What a translation leaves behind so that the next one makes only what changed. It never changes a result. */
export interface Memory {
  readonly stored: StoreState['stored'];
  readonly settings: TranslationSettings;
  readonly lists: ReadonlyMap<Kind, readonly StoredResource[]>;
  readonly upstreams: UpstreamTable;
  readonly authConfigs: AuthConfigTable;
  readonly served: readonly SnapshotUpstream[];
  /** By proxy and gateway. */
  readonly listeners: ReadonlyMap<string, ListenerBuild>;
  readonly statuses: StatusTable;
}

const memories = new WeakMap<Translation, Memory>();

export function remember(translation: Translation, memory: Memory): Translation {
  memories.set(translation, memory);
  return translation;
}

/** The fields of a resource that have a problem, by the line of its status that tells it. */
export function fieldsOf(translation: Translation, key: ResourceKey, line: string): readonly FieldPath[] {
  const found = recall(translation)?.statuses.entries.get(key)?.problems ?? [];
  return found.flatMap(({ fields }) => fields?.get(line) ?? []);
}

/** A problem that no status of the resource tells which has it. */
export interface TlsProblem {
  readonly key: ResourceKey;
  readonly path: FieldPath;
  readonly severity: Issue['severity'];
  readonly message: string;
}

/** What is wrong with the TLS of listeners, at the virtual services that ask for it. A virtual service alone has no status of it. */
export function tlsProblems(translation: Translation): readonly TlsProblem[] {
  const found = new Map<string, TlsProblem>();
  for (const { tls } of recall(translation)?.listeners.values() ?? []) {
    for (const [message, { hosts, path }] of tls?.blamed ?? []) {
      const severity = tls!.problems.errors.includes(message) ? 'error' : 'warning';
      for (const { host, namespace } of tls!.claims) {
        if (!hosts.includes(host)) continue;
        const key = keyOf('VirtualService', { namespace, name: host.slice(namespace.length + 1) });
        found.set(`${key} ${message}`, { key, path, severity, message });
      }
    }
  }
  return [...found.values()];
}

export function recall(translation: Translation | undefined): Memory | undefined {
  return translation && memories.get(translation);
}

import { isDeepStrictEqual } from 'node:util';
import type { SecretValue } from '../contract/snapshot.ts';
import type { ObservedProblem } from '../resource/stored.ts';
import type { Sds } from '../schema/listener/ssl-config.ts';
import { sdsProblem, sdsServerOf, sdsSourceOf } from '../security/sds-target.ts';
import { joinCertificate } from './certificate-content.ts';
import {
  createContentEntries,
  stillServing,
  type ContentEntry,
  type ContentNames,
  type WatchedContent,
} from './named-content.ts';
import type { SdsClient, SdsClientParts } from './sds-client.ts';
import { wantedSecrets, type WantedSecret } from './sds-secret.ts';
import { SecretSubscription } from './sds-subscription.ts';
import { tlsSettingsIn, tlsSettingsOf, TLS_KINDS } from './tls-settings.ts';
import { createContentStats, type WatchedContentOptions } from './watched-files.ts';

export interface SdsServersOptions extends WatchedContentOptions, SdsClientParts {
  /** Returns numbers from 0 up to 1. Default: `Math.random`. */
  readonly random?: () => number;
}

/** A subscription that several entries may share. */
interface Shared {
  readonly subscription: SecretSubscription;
  readonly entries: Set<Entry>;
  readonly id: string;
}

interface Entry extends ContentEntry<Sds, SecretValue> {
  readonly shared: Shared[];
}

const NAMES: ContentNames<Sds, SecretValue> = {
  kinds: TLS_KINDS,
  filesOf: (resource) =>
    tlsSettingsOf(resource).flatMap(({ settings: { sds: files }, at }) =>
      files && sdsServerOf(files) && !sdsProblem(files) ? [{ files, at: [...at, 'sds'] }] : [],
    ),
  keyOf: (sds) => JSON.stringify([serverKey(sds), sds.certificatesSecretName, sds.validationContextName]),
  isServed: (files, snapshot) => tlsSettingsIn(snapshot).some(({ sds }) => isDeepStrictEqual(sds, files)),
};

/** Returns the same text for the same server and credentials. */
function serverKey(sds: Sds): string {
  return JSON.stringify([sdsServerOf(sds), sds.callCredentials?.fileCredentialSource ?? null]);
}

/**
 * Creates a watch of the certificates that `sds` names at servers, without any. gRPC is loaded for the first one. Each secret has a
 * stream, which is opened again with growing delays after it ended.
 */
export function createSdsServers(options: SdsServersOptions): WatchedContent<Sds, SecretValue> {
  const { onChange, metrics, random = Math.random } = options;
  const log = options.log.get('secret');
  const stats = createContentStats('sds_servers', metrics);
  const clients = new Map<string, SdsClient>();
  const subscriptions = new Map<string, Shared>();
  const content = createContentEntries<Sds, SecretValue, Entry>(NAMES, { open, onDrop: drop });

  function open(sds: Sds): Entry {
    const entry: Entry = {
      files: sds,
      users: new Set(),
      content: undefined,
      problem: undefined,
      revision: 0,
      shared: [],
    };
    entry.shared.push(...wantedSecrets(sds).map((wanted) => share(sds, wanted)));
    for (const { entries } of entry.shared) entries.add(entry);
    renew(entry);
    return entry;
  }

  function share(sds: Sds, wanted: WantedSecret): Shared {
    const server = serverKey(sds);
    const id = JSON.stringify([server, wanted.type, wanted.name]);
    const known = subscriptions.get(id);
    if (known) return known;
    const subscription = new SecretSubscription({
      wanted,
      server: sdsSourceOf(sds),
      serverField: sdsServerOf(sds)!.upstream === undefined ? 'targetUri' : 'clusterName',
      open: () => openStream(sds, server),
      onChange: () => changed(id),
      onRejected: () => void stats.rejected.value++,
      random,
    });
    const shared = { subscription, entries: new Set<Entry>(), id };
    subscriptions.set(id, shared);
    return shared;
  }

  async function openStream(sds: Sds, server: string) {
    const loaded = await import('./sds-client.ts');
    const client = clients.get(server) ?? loaded.createSdsClient(sds, options);
    clients.set(server, client);
    return { stream: client.open(), loaded };
  }

  function changed(id: string): void {
    const users = new Set(
      [...(subscriptions.get(id)?.entries ?? [])].filter(renew).flatMap((entry) => [...entry.users]),
    );
    stats.unusable.value = [...content.entries].filter(({ problem }) => problem).length;
    if (users.size > 0) onChange(users);
  }

  function drop(entry: Entry): void {
    for (const { subscription, entries, id } of entry.shared) {
      entries.delete(entry);
      if (entries.size > 0) continue;
      subscription.close();
      subscriptions.delete(id);
    }
    const inUse = new Set([...content.entries].map(({ files }) => serverKey(files)));
    for (const [server, client] of clients) {
      if (inUse.has(server)) continue;
      client.close();
      clients.delete(server);
    }
  }

  /** Returns true if the content of an entry or its problem changed. */
  function renew(entry: Entry): boolean {
    const before = { revision: entry.revision, problem: entry.problem };
    const all = entry.shared.map(({ subscription }) => subscription);
    const joined =
      all.every(({ parts }) => parts) && joinCertificate(Object.assign({}, ...all.map(({ parts }) => parts)));
    if (joined && 'secret' in joined && !isDeepStrictEqual(joined.secret, entry.content)) {
      entry.content = joined.secret;
      entry.revision++;
      stats.accepted.value++;
      log.info(
        { server: sdsSourceOf(entry.files), secrets: wantedSecrets(entry.files).map(({ name }) => name) },
        'discovered certificate replaced',
      );
    }
    const { problem } = all.find((each) => each.problem) ?? {};
    const observed: ObservedProblem | undefined = problem && {
      severity: problem.severity,
      path: [problem.field],
      message: problem.message,
    };
    const now = observed && entry.content ? stillServing(observed) : observed;
    if (!isDeepStrictEqual(now, entry.problem)) entry.problem = now;
    return before.revision !== entry.revision || before.problem !== entry.problem;
  }

  return {
    get: content.get,
    follow: content.follow,
    observedOf: content.observedOf,
    prune: content.prune,
    close() {
      for (const { subscription } of subscriptions.values()) subscription.close();
      for (const client of clients.values()) client.close();
    },
  };
}

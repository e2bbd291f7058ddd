import { gatewayNamespace, type Logger } from '@edge-gateway/core';
import type { ClusterClient } from '../client/cluster-client.ts';
import type { ClusterObject } from '../watch/cluster-object.ts';
import { createReflector, type ReflectorTiming } from '../watch/reflector.ts';
import { completeOrAbsent } from '../watch/optional-type.ts';
import { typesOfKind } from './cluster-kinds.ts';
import { scopeKey, type Scope } from './generation.ts';
import { followNamespaceLabels, type NamespaceLabels } from './namespace-labels.ts';
import { namespaceChoice, type NamespaceChoice } from './namespaces.ts';

const SETTINGS_NAME = 'default';

interface ScopesOptions {
  readonly client: ClusterClient;
  readonly log: Logger;
  readonly timing: Partial<ReflectorTiming> | undefined;
}

/** The scope that Settings choose. */
export interface Scopes {
  start(): Promise<void>;
  current(): Scope;
  /** Resolves with the next change, or with `close`. */
  changed(): Promise<void>;
  close(): Promise<void>;
}

/** Follows which namespaces the Settings choose, by name or by label. */
export function followScopes({ client, log, timing }: ScopesOptions): Scopes {
  let labels: ReadonlyMap<string, Readonly<Record<string, string>>> = new Map();
  let choice: NamespaceChoice = { all: true };
  let key = '';
  let next = Promise.withResolvers<void>();
  let namespaces: NamespaceLabels | undefined;
  let isStarted = false;
  const closing = new AbortController();

  function current(): Scope {
    if ('names' in choice) return { watched: choice.names };
    if (!('isWatched' in choice)) return { watched: undefined };
    const { isWatched } = choice;
    const found = [...labels].filter(([name, each]) => isWatched(name, each));
    return { watched: undefined, used: new Set(found.map(([name]) => name)) };
  }

  function update(): void {
    const now = scopeKey(current());
    if (now === key || !isStarted) return;
    key = now;
    next.resolve();
    next = Promise.withResolvers();
  }

  /** Settings by group: they have two, of which users have one. */
  const found = new Map<string, ClusterObject>();
  const [preferred, ...others] = typesOfKind('Settings').map((type, i) => {
    const reflector = createReflector<ClusterObject>({
      client,
      type,
      namespace: gatewayNamespace(),
      fieldSelector: `metadata.name=${SETTINGS_NAME}`,
      isOptional: i > 0,
      log,
      timing,
      select: (object) => object,
      onChange({ changed, deleted }) {
        for (const object of changed.values()) found.set(type.group, object);
        if (deleted.length > 0) found.delete(type.group);
        const [first] = typesOfKind('Settings').flatMap(({ group }) => found.get(group) ?? []);
        choice = namespaceChoice(first);
        if (isStarted) void followLabels().then(update);
      },
    });
    return { type, reflector };
  });

  async function followLabels(): Promise<void> {
    if (!('isWatched' in choice) || namespaces || closing.signal.aborted) return;
    namespaces = followNamespaceLabels({
      client,
      log,
      timing,
      onChange(next) {
        labels = next;
        update();
      },
    });
    await namespaces.complete;
  }

  return {
    async start() {
      await Promise.all([
        preferred!.reflector.start(),
        ...others.map(({ type, reflector }) => completeOrAbsent(reflector, client, type, closing.signal)),
      ]);
      await followLabels();
      isStarted = true;
      key = scopeKey(current());
    },
    current,
    changed: () => next.promise,
    async close() {
      closing.abort();
      next.resolve();
      await Promise.all([preferred!, ...others].map(({ reflector }) => reflector.close()));
      await namespaces?.close();
    },
  };
}

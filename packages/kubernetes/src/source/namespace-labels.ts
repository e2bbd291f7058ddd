import type { Logger } from '@edge-gateway/core';
import type { ClusterClient } from '../client/cluster-client.ts';
import { createReflector, type ReflectorTiming } from '../watch/reflector.ts';
import { NAMESPACES } from './cluster-kinds.ts';

/** Options of {@link followNamespaceLabels}. */
export interface NamespaceLabelsOptions {
  readonly client: ClusterClient;
  readonly log: Logger;
  readonly timing?: Partial<ReflectorTiming>;
  /** Called with the labels of all namespaces, a new map for each change. */
  onChange(labels: ReadonlyMap<string, Readonly<Record<string, string>>>): void;
}

/** The labels of all namespaces. */
export interface NamespaceLabels {
  /** Resolves when all are known, or with `close`. Without permission to list namespaces, it may never resolve otherwise. */
  readonly complete: Promise<void>;
  close(): Promise<void>;
}

/** Follows the labels of all namespaces, as far as the role permits to list them. */
export function followNamespaceLabels({ client, log, timing, onChange }: NamespaceLabelsOptions): NamespaceLabels {
  let labels = new Map<string, Readonly<Record<string, string>>>();
  const reflector = createReflector<Readonly<Record<string, string>>>({
    client,
    type: NAMESPACES,
    metadataOnly: true,
    log,
    timing,
    select: ({ metadata }) => metadata.labels ?? {},
    onChange({ changed, deleted }) {
      labels = new Map([...labels, ...changed]);
      for (const name of deleted) labels.delete(name);
      onChange(labels);
    },
  });
  return { complete: reflector.start(), close: () => reflector.close() };
}

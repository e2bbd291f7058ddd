import type { Logger } from '@edge-gateway/core';
import type { ClusterClient } from '../client/cluster-client.ts';
import type { Scope } from '../source/generation.ts';
import { typeName, type ResourceType } from '../watch/cluster-object.ts';
import { completeOrForbidden } from '../watch/forbidden.ts';
import { createReflector, type Reflector, type ReflectorProblem, type ReflectorTiming } from '../watch/reflector.ts';
import { readEndpointSlice, readService } from './cluster-objects.ts';
import type { ServiceTable } from './service-table.ts';

const SERVICES: ResourceType = { group: '', version: 'v1', plural: 'services' };
const SLICES: ResourceType = { group: 'discovery.k8s.io', version: 'v1', plural: 'endpointslices' };
const PODS: ResourceType = { group: '', version: 'v1', plural: 'pods' };

interface ServiceWatchOptions {
  readonly client: ClusterClient;
  readonly scope: Scope;
  readonly table: ServiceTable;
  readonly log: Logger;
  readonly timing: Partial<ReflectorTiming> | undefined;
  /** False: only Services are followed. */
  readonly hasEndpoints: boolean;
  /** Called after each change of the table. */
  onChange(): void;
}

/** Follows the Services of one scope. */
export interface ServiceWatch {
  /** Resolves when the table is complete. Labels of pods are missing if pods may not be listed. */
  start(): Promise<void>;
  problems(): ReadonlyMap<string, ReflectorProblem>;
  close(): Promise<void>;
}

/** Creates a watch, which makes no request before `start`. */
export function createServiceWatch(options: ServiceWatchOptions): ServiceWatch {
  const { client, scope, table, log, timing, hasEndpoints, onChange } = options;
  const isUsed = ({ namespace = '' }: { readonly namespace?: string }): boolean => scope.used?.has(namespace) ?? true;

  const follow = <T>(
    type: ResourceType,
    own: Pick<Parameters<typeof createReflector<T>>[0], 'select' | 'metadataOnly'>,
    set: (changes: [string, T | undefined][]) => void,
  ): Named[] =>
    (scope.watched ?? [undefined]).map((namespace) => {
      const reflector = createReflector<T>({
        client,
        type,
        ...(namespace !== undefined && { namespace }),
        ...own,
        select: (object) => (isUsed(object.metadata) ? own.select(object) : undefined),
        log,
        timing,
        onChange({ changed, deleted }) {
          set([...changed, ...deleted.map((key) => [key, undefined] as [string, undefined])]);
          onChange();
        },
      });
      return { name: namespace === undefined ? typeName(type) : `${typeName(type)} ${namespace}`, reflector };
    });

  const required = follow(SERVICES, { select: readService }, table.setServices);
  if (hasEndpoints) required.push(...follow(SLICES, { select: readEndpointSlice }, table.setSlices));
  const pods = hasEndpoints
    ? follow(PODS, { select: ({ metadata }) => metadata.labels ?? {}, metadataOnly: true }, table.setPodLabels)
    : [];
  const all = [...required, ...pods];
  const closing = Promise.withResolvers<void>();
  return {
    async start() {
      const started = [
        ...required.map(({ reflector }) => reflector.start()),
        ...pods.map(({ reflector }) => completeOrForbidden(reflector, closing.promise)),
      ];
      await Promise.race([Promise.all(started), closing.promise]);
    },
    problems: () =>
      new Map(all.flatMap(({ name, reflector: { problem } }) => (problem ? [[name, problem] as const] : []))),
    async close() {
      closing.resolve();
      await Promise.all(all.map(({ reflector }) => reflector.close()));
    },
  };
}

interface Named {
  readonly name: string;
  readonly reflector: Reflector;
}

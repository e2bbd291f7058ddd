import { isDeepStrictEqual } from 'node:util';
import type { Logger, Resource, ResourceKey, ResourceRef } from '@edge-gateway/core';
import type { ServiceSpec } from '@edge-gateway/core/schema';
import type { Probe } from './discovered-api.ts';
import { functionsOf } from './functions.ts';

/** Returns the unit of what is discovered of an upstream. */
export function sourceKeyOf({ namespace, name }: ResourceRef): string {
  return `discovery/${namespace}/${name}`;
}

/** Receives the functions of upstreams. */
export interface FunctionsSink {
  /** Replaces the functions of an upstream. */
  set(upstream: ResourceRef, functions: ServiceSpec): void;
  delete(upstream: ResourceRef): void;
  /**
   * Returns whether an upstream may have functions that discovery has written, in this process or before it. Default: none has. It may be wrong, so
   * `delete` must leave functions of others as they are.
   */
  hasDiscovered?(upstream: Resource): boolean;
}

/** Types of upstreams with functions. */
export const FUNCTIONS_TYPES: readonly Probe['type'][] = ['openapi', 'grpc'];

/** Maximum number of skipped operations that are logged. */
const MAX_LOGGED = 100;

interface Written {
  readonly type: Probe['type'];
  readonly digest: string;
  /** `undefined` without functions. */
  readonly functions: ServiceSpec | undefined;
}

interface Discovered {
  readonly probe: Probe;
  /** Of the probe, and of what else decides about its functions. */
  readonly digest: string;
  readonly grantedHeaders: ReadonlySet<string>;
}

/** Reports the functions of upstreams when they change. */
export function createFunctionsWriter(
  sink: FunctionsSink,
  { log, operations }: { readonly log: Logger; readonly operations: number },
) {
  const written = new Map<string, Written>();
  const refs = new Map<string, ResourceRef>();

  return {
    typeOf: (unit: string): Probe['type'] | undefined => written.get(unit)?.type,

    has: (unit: string): boolean => written.get(unit)?.functions !== undefined,

    /** An invalid document leaves the functions as they are. */
    apply(unit: string, { name, namespace }: ResourceRef, { probe, digest, grantedHeaders }: Discovered): void {
      const before = written.get(unit);
      if (before?.digest === digest) return;
      try {
        const { serviceSpec, skipped } = functionsOf(probe, { operations, grantedHeaders });
        written.set(unit, { type: probe.type, digest, functions: serviceSpec });
        refs.set(unit, { name, namespace });
        if (isDeepStrictEqual(serviceSpec, before?.functions)) return;
        if (serviceSpec) sink.set({ name, namespace }, serviceSpec);
        else sink.delete({ name, namespace });
        log.info(
          { upstream: name, namespace, type: probe.type, skipped: skipped.length },
          'functions of upstream discovered',
        );
        for (const { where, reason } of skipped.slice(0, MAX_LOGGED))
          log.info({ upstream: name, where, reason }, 'operation skipped');
      } catch (error) {
        if (before) written.set(unit, { ...before, digest });
        log.warn(
          { upstream: name, namespace, reason: (error as Error).message },
          'failed to discover functions of upstream',
        );
      }
    },

    /** Reports the functions of a changed upstream again: whoever changed it may have removed them. */
    repeat(unit: string): void {
      const { functions } = written.get(unit) ?? {};
      if (functions && sink.hasDiscovered) sink.set(refs.get(unit)!, functions);
    },

    drop(unit: string): void {
      const ref = refs.get(unit);
      written.delete(unit);
      refs.delete(unit);
      if (ref) sink.delete(ref);
    },

    /** Removes functions that were written before this process from upstreams that are not asked for them. */
    retain(resources: ReadonlyMap<ResourceKey, Resource>, asked: ReadonlyMap<string, unknown>): void {
      if (!sink.hasDiscovered) return;
      for (const resource of resources.values()) {
        if (resource.kind !== 'Upstream' || !sink.hasDiscovered(resource)) continue;
        const { name, namespace } = resource.metadata;
        if (!asked.has(sourceKeyOf({ namespace, name }))) sink.delete({ name, namespace });
      }
    },
  };
}

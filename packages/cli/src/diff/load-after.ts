import {
  createControlPlane,
  directorySource,
  memorySource,
  silentLoggers,
  type ControlPlaneState,
  type DefaultGateways,
  type Problem,
  type Snapshot,
  type Source,
  type SourceChange,
  validateWritten,
  type WrittenResource,
} from '@edge-gateway/core';
import { dig, idOf, text } from '../resources/objects.ts';
import { withLastGoodTables } from './last-good-tables.ts';
import { checksFor, contentOf } from '../resources/load.ts';

/** The resources and problems of a gateway as its admin port lists them, or another directory. */
export type Held =
  | { readonly resources: readonly unknown[]; readonly problems: readonly Problem[] }
  | { readonly directory: string };

/** A directory, loaded on top of existing resources. */
export interface Planned {
  readonly state: ControlPlaneState;
  /** What the existing resources alone make a gateway serve. */
  readonly before: readonly Snapshot[];
}

/**
 * Loads a directory as a gateway with existing resources would: rejected resources keep their last good version.
 *
 * A running gateway does not show secret values, so a resource with hidden values is taken from the directory. It does not
 * show files either: if the directory contains an unreadable file, resources that are in no other file are attributed to it.
 */
export async function loadAfter(held: Held, directory: string, defaultGateways: DefaultGateways): Promise<Planned> {
  const next = await contentOf(directorySource(directory, { watch: false }));
  const steps = await stepsOf(held, directory, next);
  const removed: SourceChange = new Map(steps.flatMap((step) => [...step.keys()]).map((unit) => [unit, []]));
  const values = [...steps, next].flatMap((step) => [...step.values()].flat()).map(({ value }) => value);
  let before: readonly Snapshot[] = [];
  const source: Source = {
    name: 'plan',
    async start(onChange) {
      for (const step of steps) {
        onChange(step);
        await controlPlane.settled();
      }
      before = [...(controlPlane.state?.snapshots.values() ?? [])];
      onChange(new Map([...removed, ...next]));
    },
    async close() {},
  };
  const checks = await checksFor(values);
  const options = { source, defaultGateways, checks, certificateFiles: false, log: silentLoggers } as const;
  const directories = { base: directory, watch: false };
  const controlPlane = createControlPlane({ ...options, directories });
  await controlPlane.start();
  return { state: controlPlane.state!, before };
}

/** Returns what to load before the directory: the resources, and before them those that the last good parts come from. */
async function stepsOf(held: Held, directory: string, next: SourceChange): Promise<readonly SourceChange[]> {
  if ('directory' in held) {
    const content = await contentOf(directorySource(held.directory, { watch: false }));
    return [renamed(content, held.directory, directory)];
  }
  const good = withLastGoodTables(held.resources, held.problems);
  return [await heldBy(good, next), await heldBy(held.resources, next)];
}

/** Renames the files of one directory to their names in another, so that an unreadable file keeps its resources. */
function renamed(content: SourceChange, from: string, to: string): SourceChange {
  return new Map([...content].map(([unit, written]) => [to + unit.slice(from.length), written]));
}

async function heldBy(resources: readonly unknown[], next: SourceChange): Promise<SourceChange> {
  const documents = [...next.values()].flat();
  const inDirectory = new Set(documents.map(({ value }) => idOf(value)));
  const unreadable = [...next].find(([, written]) => written.some(({ value }) => idOf(value) === undefined))?.[0];
  const whole = resources.filter((resource) => ['spec', 'data', 'stringData'].some((key) => dig(resource, key)));
  const held = [
    ...(
      await contentOf(memorySource({ held: whole.map((resource) => ({ ...(resource as object), status: undefined })) }))
    ).values(),
  ].flat();
  const unusable = held.filter(isUnusable).map(({ value }) => idOf(value));
  const hidden = new Set(unusable.filter((id) => inDirectory.has(id)));
  const usable = held.filter(({ value }) => !hidden.has(idOf(value)));
  return new Map([
    ['held', usable.filter(({ value }) => inDirectory.has(idOf(value)))],
    ['hidden', documents.filter(({ value }) => hidden.has(idOf(value)))],
    [unreadable ?? 'held elsewhere', usable.filter(({ value }) => !inDirectory.has(idOf(value)))],
  ]);
}

/** Returns true for a resource that is unusable without the values that a gateway hides. */
function isUnusable(written: WrittenResource): boolean {
  return text(written.value, 'kind') === 'Secret' || validateWritten(written).resource === undefined;
}

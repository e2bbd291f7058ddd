import { AggregatedDiscovery } from '../protocol/discovery.ts';
import {
  differenceOf,
  NO_RESOURCES,
  type EncodedResource,
  type ResourceDifference,
  type TypedResources,
} from '../resources/resource-set.ts';

/** Size in bytes at which a response is complete: it fits the limits of clients, and only one per slow node is buffered. */
const MAX_CHUNK_BYTES = 1024 * 1024;

/** The content of a response, shared by many nodes. */
export interface Chunk {
  readonly type: string;
  /** Version of all resources of the type. */
  readonly version: string;
  readonly resources: readonly EncodedResource[];
  readonly removed: readonly string[];
}

/** A response to one node. */
export class PreparedResponse {
  readonly chunk: Chunk;
  readonly nonce: string;

  constructor(chunk: Chunk, nonce: string) {
    this.chunk = chunk;
    this.nonce = nonce;
  }
}

const { responseSerialize: serializeDelta } = AggregatedDiscovery['DeltaAggregatedResources']!;
const { responseSerialize: serializeWorld } = AggregatedDiscovery['StreamAggregatedResources']!;

const deltas = new WeakMap<Chunk, Buffer>();
const worlds = new WeakMap<Chunk, Buffer>();

/** Serializes a response of the delta protocol. Its content is serialized once for all nodes. */
export function serializeDeltaResponse({ chunk, nonce }: PreparedResponse): Buffer {
  let bytes = deltas.get(chunk);
  if (!bytes) {
    const { type: type_url, version, resources, removed } = chunk;
    bytes = serializeDelta({
      system_version_info: version,
      type_url,
      resources: resources.map(({ name, version: own, value }) => ({
        name,
        version: own,
        resource: { type_url, value },
      })),
      removed_resources: removed,
    });
    deltas.set(chunk, bytes);
  }
  return withNonce(bytes, nonce);
}

/** Serializes a response of the state-of-the-world protocol. */
export function serializeWorldResponse({ chunk, nonce }: PreparedResponse): Buffer {
  let bytes = worlds.get(chunk);
  if (!bytes) {
    const { type: type_url, version: version_info, resources } = chunk;
    bytes = serializeWorld({
      version_info,
      type_url,
      resources: resources.map(({ value }) => ({ type_url, value })),
    });
    worlds.set(chunk, bytes);
  }
  return withNonce(bytes, nonce);
}

/** Appends the nonce, which is the field 5 of both responses; the order of fields is free. */
function withNonce(message: Buffer, nonce: string): Buffer {
  const text = Buffer.from(nonce, 'latin1');
  return Buffer.concat([message, Buffer.from([(5 << 3) | 2, text.length]), text]);
}

const chunks = new WeakMap<ResourceDifference, readonly Chunk[]>();

/** Returns the changed resources in responses of limited size; the same ones for the same difference. */
export function chunksOf(type: string, { version }: TypedResources, difference: ResourceDifference): readonly Chunk[] {
  let found = chunks.get(difference);
  if (!found) chunks.set(difference, (found = split(type, version, difference.changed)));
  return found;
}

function split(type: string, version: string, changed: readonly EncodedResource[]): readonly Chunk[] {
  const found: Chunk[] = [];
  let resources: EncodedResource[] = [];
  let bytes = 0;
  const close = (): void => {
    found.push({ type, version, resources, removed: [] });
    resources = [];
    bytes = 0;
  };
  for (const resource of changed) {
    resources.push(resource);
    bytes += resource.value.length;
    if (bytes >= MAX_CHUNK_BYTES) close();
  }
  if (resources.length > 0) close();
  return found;
}

/** Returns all resources of a type, for a node without any. */
export function everything(resources: TypedResources): ResourceDifference {
  return differenceOf(NO_RESOURCES, resources);
}

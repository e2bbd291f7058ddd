import {
  gatewayNamespace,
  digestText,
  LAST_APPLIED_ANNOTATION,
  writtenObjects,
  type Kind,
  type WrittenResource,
} from '@edge-gateway/core';
import { objectKey, typeName, type ClusterObject, type ResourceType } from '../watch/cluster-object.ts';
import { writtenStatusDigest } from '../status/status-report.ts';
import { typeOfKind } from './cluster-kinds.ts';

/** The part of an object that the user wrote. */
export interface WrittenObject {
  /** `<plural>.<group> <namespace>/<name>`, as kubectl names it. */
  readonly unit: string;
  /** Changes with what the user wrote, not with the status. */
  readonly digest: string;
  readonly written: readonly WrittenResource[];
  /** Digest of the status that this control plane wrote, if any. */
  readonly status: string | undefined;
}

/** Managed by the API server or a controller, not part of the resource. */
const OMITTED_FIELDS = new Set(['apiVersion', 'kind', 'metadata', 'status']);

/** Kinds of options of which the older ones take precedence. */
const COMPETING_KINDS: ReadonlySet<Kind> = new Set(['ListenerOption', 'HttpListenerOption']);

/** Returns the unit of an object of a kind; by default in its preferred version. */
export function sourceKeyOf(kind: Kind, key: string, type: ResourceType = typeOfKind(kind)): string {
  return `${typeName(type)} ${key}`;
}

/** Returns what the user wrote of an object. */
export function writtenObject(kind: Kind, object: ClusterObject, type: ResourceType = typeOfKind(kind)): WrittenObject {
  const { name, namespace, labels, annotations = {}, creationTimestamp } = object.metadata;
  const { [LAST_APPLIED_ANNOTATION]: _, ...kept } = annotations;
  const unit = sourceKeyOf(kind, objectKey(object.metadata), type);
  const resource = {
    apiVersion: type.group ? `${type.group}/${type.version}` : type.version,
    kind,
    metadata: {
      name,
      namespace,
      labels,
      annotations: Object.keys(kept).length > 0 ? kept : undefined,
      ...(COMPETING_KINDS.has(kind) && { creationTimestamp }),
    },
    ...Object.fromEntries(Object.entries(object).filter(([field]) => !OMITTED_FIELDS.has(field))),
  };
  const digest = digestText(JSON.stringify(resource));
  const written = writtenObjects({ unit, origin: { file: unit, line: 0, column: 0 } }, resource);
  return { unit, digest, written, status: writtenStatusDigest(kind, object, gatewayNamespace()) };
}

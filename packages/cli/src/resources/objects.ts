import { gatewayNamespace, KINDS, type Kind } from '@edge-gateway/core';

/** A resource as the control plane shows it: shaped as in Kubernetes, with its status. */
export interface StatusObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly labels?: Readonly<Record<string, unknown>>;
  };
  /** Missing for Secrets and ConfigMaps, whose fields are beside the metadata. */
  readonly spec?: unknown;
  readonly status?: unknown;
}

/** Returns the elements of a list that have the shape of a resource. */
export function toStatusObjects(data: unknown): StatusObject[] {
  return items(data).flatMap((item) => {
    const [kind, name] = [text(item, 'kind'), text(item, 'metadata', 'name')];
    if (!kind || !name) return [];
    const metadata = { ...(dig(item, 'metadata') as object), name, namespace: text(item, 'metadata', 'namespace') };
    const spec = hasBody(kind) ? {} : { spec: dig(item, 'spec') ?? {} };
    return [{ ...(item as object), apiVersion: text(item, 'apiVersion'), kind, metadata, ...spec } as StatusObject];
  });
}

/** Returns kind, namespace and name of a document; `undefined` if kind or name is missing. */
export function idOf(value: unknown): string | undefined {
  const [kind, name] = [text(value, 'kind'), text(value, 'metadata', 'name')];
  return kind && name ? `${kind}/${text(value, 'metadata', 'namespace') || gatewayNamespace()}/${name}` : undefined;
}

/** Returns true for kinds whose fields are beside the metadata instead of under `spec`. */
export function hasBody(kind: string): boolean {
  return KINDS.get(kind as Kind)?.body === true;
}

/** Returns true if more than the name of a resource is known: of a rejected one a gateway shows nothing else. */
export function isWritten({ spec }: StatusObject): boolean {
  return entries(spec).length > 0;
}

/** The value at a path of keys; `undefined` when a step is missing. */
export function dig(value: unknown, ...path: readonly (string | number)[]): unknown {
  let at = value;
  for (const key of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as Record<string | number, unknown>)[key];
  }
  return at;
}

/** The list at a path; empty when there is none. */
export function items(value: unknown, ...path: readonly (string | number)[]): readonly unknown[] {
  const found = dig(value, ...path);
  return Array.isArray(found) ? found : [];
}

/** The keys and values of the object at a path; empty when there is none. */
export function entries(value: unknown, ...path: readonly (string | number)[]): [string, unknown][] {
  const found = dig(value, ...path);
  return typeof found === 'object' && found !== null && !Array.isArray(found) ? Object.entries(found) : [];
}

/** The text or number at a path as text; empty when there is none. */
export function text(value: unknown, ...path: readonly (string | number)[]): string {
  const found = dig(value, ...path);
  return typeof found === 'string' || typeof found === 'number' || typeof found === 'boolean' ? String(found) : '';
}

/** The reference at a path; one without namespace means `namespace`. `undefined` when there is none. */
export function refAt(value: unknown, namespace: string, ...path: readonly string[]) {
  const name = text(value, ...path, 'name');
  return name ? { name, namespace: text(value, ...path, 'namespace') || namespace } : undefined;
}

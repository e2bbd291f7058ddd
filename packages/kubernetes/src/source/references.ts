import { gatewayNamespace, refersToSecrets, signingKeySecret } from '@edge-gateway/core';
import { isObjectName, objectKey, type ClusterObject } from '../watch/cluster-object.ts';
import type { ReferencedKind } from './cluster-kinds.ts';

/** The Secrets and ConfigMaps that an object needs. */
export interface References {
  readonly keys: Readonly<Record<ReferencedKind, readonly string[]>>;
  /** Labels that select Secrets. */
  readonly selectors: readonly Readonly<Record<string, string>>[];
}

/** Names of fields that refer to one or several ConfigMaps. */
const CONFIG_MAPS = /configMap(?:refs?)?$|^modules$/i;
const MAX_DEPTH = 64;

/** Returns the reference to the Secret from which browsers get their signed cookies, without any reference. */
const alwaysRead = (): References => ({
  keys: { Secret: [objectKey(signingKeySecret())], ConfigMap: [] },
  selectors: [],
});

/** Returns the kind that a field with this name refers to. */
export function referencedKind(field: string): ReferencedKind | undefined {
  if (refersToSecrets(field)) return 'Secret';
  return CONFIG_MAPS.test(field) ? 'ConfigMap' : undefined;
}

/** Finds the references of an object by the names of its fields; `undefined` if there are none. */
export function referencesOf({ metadata, spec }: ClusterObject): References | undefined {
  const found = { Secret: new Set<string>(), ConfigMap: new Set<string>() };
  const selectors: Record<string, string>[] = [];

  function visit(value: unknown, kind: ReferencedKind | undefined, depth: number): void {
    if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return;
    if (Array.isArray(value)) {
      for (const item of value) visit(item, kind, depth + 1);
      return;
    }
    const { name, namespace } = value as { name?: unknown; namespace?: unknown };
    if (kind && typeof name === 'string') {
      for (const key of keysOf(name, namespace, metadata.namespace)) found[kind].add(key);
      return;
    }
    for (const [field, inner] of Object.entries(value)) {
      if (field === 'labelSelector') selectors.push(...selectorOf(inner));
      else visit(inner, referencedKind(field), depth + 1);
    }
  }

  visit(spec, undefined, 0);
  if (found.Secret.size + found.ConfigMap.size + selectors.length === 0) return undefined;
  return { keys: { Secret: [...found.Secret], ConfigMap: [...found.ConfigMap] }, selectors };
}

/** References without a namespace mean that of the object, or the default namespace. A text that is not a name must not become a part of a path. */
function keysOf(name: string, namespace: unknown, own: string | undefined): string[] {
  if (!isObjectName(name)) return [];
  const namespaces = typeof namespace === 'string' && namespace ? [namespace] : [own, gatewayNamespace()];
  return namespaces.flatMap((each) => (each && isObjectName(each) ? [objectKey({ namespace: each, name })] : []));
}

/** An empty selector selects nothing. */
function selectorOf(value: unknown): Record<string, string>[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  const labels = Object.entries(value);
  if (labels.length === 0 || labels.some(([, text]) => typeof text !== 'string')) return [];
  return [Object.fromEntries(labels) as Record<string, string>];
}

/** The references of all objects together. */
export interface ReferenceIndex {
  /** Returns whether more or other objects may be wanted now. */
  set(unit: string, references: References | undefined): boolean;
  isWanted(kind: ReferencedKind, key: string, labels: Readonly<Record<string, string>>): boolean;
  /** Keys that are referred to by name. */
  named(kind: ReferencedKind): Iterable<string>;
}

/** Creates an index with {@link alwaysRead} in it. */
export function createReferenceIndex(): ReferenceIndex {
  const byUnit = new Map<string, References>();
  const counts = { Secret: new Map<string, number>(), ConfigMap: new Map<string, number>() };
  const selectors = new Map<string, { readonly labels: Readonly<Record<string, string>>; count: number }>();

  function count({ keys, selectors: added }: References, by: 1 | -1): void {
    for (const kind of ['Secret', 'ConfigMap'] as const) {
      for (const key of keys[kind]) {
        const now = (counts[kind].get(key) ?? 0) + by;
        if (now > 0) counts[kind].set(key, now);
        else counts[kind].delete(key);
      }
    }
    for (const labels of added) {
      const text = JSON.stringify(labels);
      const known = selectors.get(text) ?? { labels, count: 0 };
      known.count += by;
      if (known.count > 0) selectors.set(text, known);
      else selectors.delete(text);
    }
  }

  count(alwaysRead(), 1);
  return {
    set(unit, references) {
      const before = byUnit.get(unit);
      if (references) count(references, 1);
      if (before) count(before, -1);
      if (references) byUnit.set(unit, references);
      else byUnit.delete(unit);
      return JSON.stringify(before) !== JSON.stringify(references);
    },
    isWanted(kind, key, labels) {
      if (counts[kind].has(key)) return true;
      if (kind !== 'Secret') return false;
      for (const { labels: wanted } of selectors.values()) {
        if (Object.entries(wanted).every(([name, value]) => labels[name] === value)) return true;
      }
      return false;
    },
    named: (kind) => counts[kind].keys(),
  };
}

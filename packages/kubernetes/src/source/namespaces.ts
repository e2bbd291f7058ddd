import { DEFAULT_NAMESPACE } from '@edge-gateway/core';
import type { ClusterObject } from '../watch/cluster-object.ts';

/** A selector of labels, as Kubernetes has it. */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly LabelExpression[];
}

interface LabelExpression {
  readonly key?: string;
  readonly operator?: string;
  readonly values?: readonly string[];
}

/** Which namespaces Settings tell to read. */
export type NamespaceChoice =
  | { readonly all: true }
  | { readonly names: readonly string[] }
  | { readonly selectors: readonly LabelSelector[] };

/** Returns the choice of the Settings; `watchNamespaces` takes precedence over selectors. The write namespace is always read. */
export function namespaceChoice(settings: ClusterObject | undefined): NamespaceChoice {
  const spec = (settings?.spec ?? {}) as {
    watchNamespaces?: unknown;
    watchNamespaceSelectors?: unknown;
    discoveryNamespace?: unknown;
  };
  const names = texts(spec.watchNamespaces);
  if (names.length > 0) {
    const own = typeof spec.discoveryNamespace === 'string' ? [spec.discoveryNamespace] : [];
    return { names: [...new Set([DEFAULT_NAMESPACE, ...own, ...names])].filter(Boolean).sort() };
  }
  const selectors = Array.isArray(spec.watchNamespaceSelectors)
    ? (spec.watchNamespaceSelectors as LabelSelector[])
    : [];
  return selectors.length > 0 ? { selectors } : { all: true };
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string' && one !== '') : [];
}

/** Returns whether labels match a selector; an empty one matches all. An unknown operator matches none. */
export function matchesLabels(selector: LabelSelector, labels: Readonly<Record<string, string>>): boolean {
  const { matchLabels = {}, matchExpressions = [] } = selector;
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every((expression) => matchesExpression(expression, labels))
  );
}

function matchesExpression({ key, operator, values = [] }: LabelExpression, labels: Readonly<Record<string, string>>) {
  const value = key === undefined || !Object.hasOwn(labels, key) ? undefined : labels[key];
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    default:
      return false;
  }
}

import { KINDS, type KindInfo, type SchemaNode } from '@edge-gateway/core';
import { printerColumns } from './printer-columns.ts';
import { statusSchema } from './status-schema.ts';
import { FREE_OBJECT, structuralSchema, type StructuralSchema } from './structural-schema.ts';

/** A CustomResourceDefinition, in the field names of the Kubernetes API. */
export interface Definition {
  readonly apiVersion: 'apiextensions.k8s.io/v1';
  readonly kind: 'CustomResourceDefinition';
  /** `name` is the plural and the group of the kind. */
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly spec: Readonly<Record<string, unknown>>;
}

/** `kubectl get edge-gateway` lists the resources of all kinds. */
const CATEGORY = 'edge-gateway';

/**
 * Returns the CustomResourceDefinitions of all kinds, sorted by name. A kind in two API groups has the preferred one, which the control
 * plane reads.
 *
 * @example
 * customResourceDefinitions()[0]!.metadata.name; // 'authconfigs.enterprise.gw.vendor.io'
 */
export function customResourceDefinitions(): Definition[] {
  const kinds = [...KINDS.values()].filter(({ body }) => !body);
  return kinds.map(definition).sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
}

function definition(info: KindInfo): Definition {
  const [group, name] = info.apiVersions[0]!.split('/') as [string, string];
  const { kind, plural, shortNames, namespaced } = info;
  const names = { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase(), shortNames };
  const version = {
    name,
    served: true,
    storage: true,
    subresources: { status: {} },
    additionalPrinterColumns: printerColumns(kind),
    schema: { openAPIV3Schema: resourceSchema(info) },
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, labels: { app: 'gw' } },
    spec: {
      group,
      scope: namespaced ? 'Namespaced' : 'Cluster',
      names: { ...names, categories: [CATEGORY] },
      versions: [version],
    },
  };
}

/** A Proxy has no schema: it is written by the control plane alone, and repeats the options of all other kinds. */
function resourceSchema({ kind, schema, description }: KindInfo): StructuralSchema {
  const node = schema as SchemaNode;
  const needsSpec = node['x-required'] !== undefined || node['x-oneof']?.some(({ required }) => required);
  return {
    type: 'object',
    description,
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object' },
      spec: { ...(kind === 'Proxy' ? FREE_OBJECT : specSchema(node)), description },
      status: statusSchema(kind),
    },
    ...(needsSpec && { required: ['spec'] }),
  };
}

/** Old control planes wrote the status into `namespacedStatuses`. */
function specSchema(node: SchemaNode): StructuralSchema {
  const spec = structuralSchema(node);
  const namespacedStatuses = { ...FREE_OBJECT, description: 'Ignored: the former location of the status.' };
  return { ...spec, properties: { ...(spec['properties'] as object), namespacedStatuses } };
}

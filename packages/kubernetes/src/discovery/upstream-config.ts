import type { UpstreamSpec } from '@edge-gateway/core/schema';
import { ANNOTATIONS, InvalidAnnotation } from './port-annotations.ts';
import type { Service } from './cluster-objects.ts';

type Json = Readonly<Record<string, unknown>>;

/** Types of upstreams besides `kube`. */
const OTHER_TYPES = ['static', 'consul', 'aws', 'awsEc2', 'azure', 'pipe', 'gcp', 'ai'] as const;
/** Fields that only discovery writes. */
const OWN_FIELDS = ['serviceName', 'serviceNamespace', 'servicePort', 'selector'] as const;
/** Deeper configuration is rejected. */
const MAX_DEPTH = 32;

/**
 * Returns the spec of an upstream with the fields of the annotation `upstream_config` of its Service, which replace those of the spec; with
 * `deep_merge` objects are merged. Throws {@link InvalidAnnotation}.
 */
export function withUpstreamConfig(
  spec: UpstreamSpec,
  service: Service,
  annotations: Service['annotations'],
): UpstreamSpec {
  const text = annotations[ANNOTATIONS.config];
  if (text === undefined) return spec;
  const config = parsed(text);
  const other = OTHER_TYPES.find((type) => config[type] !== undefined);
  if (other) throw new InvalidAnnotation(ANNOTATIONS.config, `must not contain ${other}: the upstream is of type kube`);
  if (config['discoveryMetadata'] !== undefined)
    throw new InvalidAnnotation(ANNOTATIONS.config, 'must not contain discoveryMetadata');
  checkReferences(config, service.namespace);
  const isDeep = annotations[ANNOTATIONS.deepMerge] === 'true';
  const { kube, ...rest } = config;
  const own = kube === undefined ? spec.kube : { ...kubeOf(kube), ...spec.kube };
  const merged = isDeep ? mergedJson(spec as Json, rest) : { ...spec, ...rest };
  return { ...merged, kube: own } as UpstreamSpec;
}

function parsed(text: string): Json {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new InvalidAnnotation(ANNOTATIONS.config, `is not valid JSON: ${(error as Error).message}`);
  }
  if (!isObject(value)) throw new InvalidAnnotation(ANNOTATIONS.config, 'must be a JSON object');
  return value;
}

function kubeOf(kube: unknown): Json {
  if (!isObject(kube)) throw new InvalidAnnotation(ANNOTATIONS.config, 'kube must be a JSON object');
  const own = OWN_FIELDS.find((field) => kube[field] !== undefined);
  if (own) throw new InvalidAnnotation(ANNOTATIONS.config, `must not contain kube.${own}`);
  return kube;
}

/** Whoever may change a Service may use the Secrets of its namespace, and no others. */
function checkReferences(value: unknown, namespace: string, depth = 0): void {
  if (depth > MAX_DEPTH) throw new InvalidAnnotation(ANNOTATIONS.config, `is nested deeper than ${MAX_DEPTH} levels`);
  if (Array.isArray(value)) for (const item of value) checkReferences(item, namespace, depth + 1);
  if (!isObject(value)) return;
  for (const [key, child] of Object.entries(value)) {
    if (key === '__proto__') throw new InvalidAnnotation(ANNOTATIONS.config, 'must not contain __proto__');
    if (/ref$/i.test(key) && isObject(child) && child['namespace'] !== namespace)
      throw new InvalidAnnotation(
        ANNOTATIONS.config,
        `${key} must name the namespace of the Service, '${namespace}'${typeof child['namespace'] === 'string' ? `, and not '${child['namespace']}'` : ''}`,
      );
    checkReferences(child, namespace, depth + 1);
  }
}

function mergedJson(base: Json, changes: Json): Json {
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(changes)) {
    const before = merged[key];
    merged[key] = isObject(before) && isObject(value) ? mergedJson(before, value) : value;
  }
  return merged;
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

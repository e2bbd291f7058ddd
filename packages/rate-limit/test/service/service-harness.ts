import {
  createContext,
  createControlPlane,
  memorySource,
  silentLoggers,
  type Context,
  type ControlPlaneState,
} from '@edge-gateway/core';
import type { RateLimitConfigSpec, RateLimitRules } from '@edge-gateway/core/schema';
import { createMemoryStore, createRateLimitService, type RateLimitService, type Store } from '../../src/index.ts';

/** Middle of a minute and of an hour, so that a test cannot meet the end of a window. */
export const NOW = Date.UTC(2027, 1, 14, 12, 30, 30);

/** What a service is created from: resources by `<namespace>/<name>`. */
export interface ServedResources {
  readonly settings?: RateLimitRules;
  readonly configs?: Readonly<Record<string, NonNullable<RateLimitConfigSpec['raw']>>>;
  readonly virtualHosts?: Readonly<Record<string, object>>;
}

/** Returns the state of a control plane with these resources. */
export async function stateOf({
  settings,
  configs = {},
  virtualHosts = {},
}: ServedResources): Promise<ControlPlaneState> {
  const metadataOf = (id: string) => {
    const [namespace, name] = id.split('/');
    return { namespace, name };
  };
  const resources = [
    ...(settings
      ? [
          {
            apiVersion: 'gw.vendor.io/v1',
            kind: 'Settings',
            metadata: { name: 'default', namespace: 'gw-system' },
            spec: { ratelimit: settings },
          },
        ]
      : []),
    ...Object.entries(configs).map(([id, raw]) => ({
      apiVersion: 'ratelimit.vendor.io/v1alpha1',
      kind: 'RateLimitConfig',
      metadata: metadataOf(id),
      spec: { raw },
    })),
    ...Object.entries(virtualHosts).map(([id, virtualHost]) => ({
      apiVersion: 'gateway.vendor.io/v1',
      kind: 'VirtualService',
      metadata: metadataOf(id),
      spec: { virtualHost: { domains: [metadataOf(id).name], ...virtualHost } },
    })),
    {
      apiVersion: 'gw.vendor.io/v1',
      kind: 'Upstream',
      metadata: { name: 'up', namespace: 'gw-system' },
      spec: { static: { hosts: [{ addr: '127.0.0.1', port: 9 }] } },
    },
  ];
  const controlPlane = createControlPlane({ source: memorySource({ resources }), log: silentLoggers });
  await controlPlane.start();
  await controlPlane.close();
  const { issues } = controlPlane.state!;
  if (issues.length > 0) throw new Error(issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('\n'));
  return controlPlane.state!;
}

/** A service with rules, at a fixed time. */
export async function serve(
  resources: ServedResources,
  { store = createMemoryStore({ now: () => NOW }), maxChecks }: { store?: Store; maxChecks?: number } = {},
): Promise<{ readonly service: RateLimitService; readonly context: Context }> {
  const context = createContext({ log: silentLoggers });
  const service = createRateLimitService({ context, store, ...(maxChecks !== undefined && { maxChecks }) });
  service.update(await stateOf(resources));
  return { service, context };
}

/** A descriptor from pairs of key and value. */
export const tuple = (...pairs: readonly (readonly [string, string])[]) => ({
  entries: pairs.map(([key, value]) => ({ key, value })),
});

/** Rules of the Settings: one request a minute per user. */
export const PER_USER: ServedResources = {
  settings: { descriptors: [{ key: 'user', rateLimit: { requestsPerUnit: 1, unit: 'MINUTE' } }] },
};

import type { Kind } from '../resource/resource.ts';
import { KINDS } from '../schema/kinds.ts';

/** The kinds whose states have gauges, with the names of these. One of them has been misspelt for so long that dashboards rely on it. */
export const CONFIG_STATUS_NAMES = {
  Gateway: 'gateway',
  RouteTable: 'route_table',
  VirtualService: 'virtual_service',
  Proxy: 'proxy',
  Secret: 'secret',
  Upstream: 'upstream',
  UpstreamGroup: 'upsteam_group',
} as const satisfies Partial<Record<Kind, string>>;

/** A kind of {@link CONFIG_STATUS_NAMES}. */
export type ConfigStatusKind = keyof typeof CONFIG_STATUS_NAMES;

/** The kinds as `Kind.version.group`. */
const BY_NAME: ReadonlyMap<string, ConfigStatusKind> = new Map(
  (Object.keys(CONFIG_STATUS_NAMES) as ConfigStatusKind[]).flatMap((kind) =>
    KINDS.get(kind)!.apiVersions.map((apiVersion) => [nameOf(kind, apiVersion), kind] as const),
  ),
);

/** Every name that {@link kindOfName} accepts. */
export const CONFIG_STATUS_KINDS: readonly string[] = [...BY_NAME.keys()];

/** Returns the kind of `Kind.version.group`, such as `Upstream.v1.gw.vendor.io`; `undefined` if it has no gauge. */
export function kindOfName(name: string): ConfigStatusKind | undefined {
  return BY_NAME.get(name);
}

function nameOf(kind: Kind, apiVersion: string): string {
  const [version, group] = apiVersion.split('/').toReversed();
  return [kind, version, ...(group === undefined ? [] : [group])].join('.');
}

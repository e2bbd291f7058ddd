import type { ClusterService } from '../contract/cluster-services.ts';
import { differingKeys } from '../layered-map.ts';
import type { Kind, ResourceKey } from '../resource/resource.ts';
import type { StoreState } from '../resource/stored.ts';
import type { Dependencies } from './input.ts';

/** The differences between two states. */
export interface Changes {
  /** Resources added, removed or changed. */
  readonly keys: ReadonlySet<ResourceKey>;
  /** Kinds of them. */
  readonly kinds: ReadonlySet<Kind>;
  /** Kinds with added or removed resources. */
  readonly members: ReadonlySet<Kind>;
  /** True if Services of the cluster differ in any way. */
  readonly services: boolean;
  /** True if Services, or ports of them, were added or removed. */
  readonly servicePorts: boolean;
}

type ChangingState = Pick<StoreState, 'stored' | 'services'>;

export function changesBetween(old: ChangingState, next: ChangingState): Changes {
  const [before, now] = [old.stored, next.stored];
  const keys = differingKeys(before, now);
  const kinds = new Set<Kind>();
  const members = new Set<Kind>();
  for (const key of keys) {
    kinds.add(kindOf(key));
    if (!before.has(key) || !now.has(key)) members.add(kindOf(key));
  }
  const services = differingServices(old.services, next.services);
  const hasOtherPorts = (key: string): boolean => portsOf(old.services?.get(key)) !== portsOf(next.services?.get(key));
  const servicePorts = !old.services !== !next.services || services.some(hasOtherPorts);
  return { keys, kinds, members, services: old.services !== next.services, servicePorts };
}

const NO_SERVICES: NonNullable<StoreState['services']> = new Map();

function differingServices(before = NO_SERVICES, now = NO_SERVICES): string[] {
  return [...differingKeys(before, now)];
}

function portsOf(service: ClusterService | undefined): string | undefined {
  return service?.ports.map(({ port }) => port).join();
}

/** Which previous builds cannot be reused. */
export interface Outdated {
  /** False if all of them can be. */
  readonly any: boolean;
  has(build: { readonly dependencies: Dependencies }): boolean;
}

/** Returns true if a build read one of the keys. */
export function isAffected(dependencies: Dependencies, keys: ReadonlySet<ResourceKey>, changes: Changes): boolean {
  if (dependencies.everyTable && changes.kinds.has('RouteTable')) return true;
  if (dependencies.services && changes.servicePorts) return true;
  for (const kind of dependencies.names) if (changes.members.has(kind)) return true;
  if (keys.size === 0) return false;
  for (const key of dependencies.keys) if (keys.has(key)) return true;
  return false;
}

export function kindOf(key: ResourceKey): Kind {
  return key.slice(0, key.indexOf('/')) as Kind;
}

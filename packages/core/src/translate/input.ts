import type { AuthServers } from '../contract/auth-place.ts';
import type { FieldProblem } from '../resource/problem.ts';
import { keyOf, type Kind, type ResourceKey, type ResourceRef } from '../resource/resource.ts';
import type { Ref } from '../schema/field.ts';
import type { RateLimitServer } from '../schema/route/rate-limit.ts';
import type { StoredResource, StoreState } from '../resource/stored.ts';
import { dotted } from './names.ts';
import { missingServiceReason, SERVICE_PREFIX } from './reference/kube-upstreams.ts';
import { find, type Found, type Resources } from './reference/find.ts';
import type { AuthConfigEntry, AuthConfigTable } from './reference/tables.ts';
import { faultOf, missingCause, missingFault } from './reference/missing.ts';
import type { TranslationSettings } from './translation-settings.ts';
import type { UpstreamEntry, UpstreamTable } from './reference/tables.ts';

/** The input of one translation. */
export interface TranslationInput extends Resources {
  readonly settings: TranslationSettings;
  readonly upstreams: UpstreamTable;
  /** The Services of the cluster; missing without a cluster. */
  readonly services: StoreState['services'];
  /** Upstreams of their ports, which exist only in memory. */
  readonly serviceUpstreams: UpstreamTable;
  readonly authConfigs: AuthConfigTable;
  /** Stored resources of a kind, sorted by key. */
  readonly list: (kind: Kind) => readonly StoredResource[];
}

/** The resources that one build read, so that it is rebuilt only if they change. */
export interface Dependencies {
  readonly keys: ReadonlySet<ResourceKey>;
  /** Kinds whose names were searched for a missing reference. */
  readonly names: ReadonlySet<Kind>;
  /** True if a selector searched all route tables. */
  readonly everyTable: boolean;
  /** True if a Service, or a port of one, was not found. */
  readonly services: boolean;
}

const KUBE_DISABLED = faultOf('kube destinations are disabled in the Settings (gw.disableKubernetesDestinations)');

/** Reads the input and records what it read. */
export class Reader {
  readonly input: TranslationInput;
  /** The auth servers of the listener, if the build is for one. */
  readonly authServers: AuthServers;
  /** True if the build is for a listener with a rate limit server. */
  readonly hasLimitServer: boolean;
  readonly dependencies = { keys: new Set<ResourceKey>(), names: new Set<Kind>(), everyTable: false, services: false };

  constructor(input: TranslationInput, authServers: AuthServers = {}, limitServer?: RateLimitServer) {
    this.input = input;
    this.authServers = authServers;
    const server = limitServer ?? input.settings.served.ratelimitServer;
    this.hasLimitServer = server?.ratelimitServerRef !== undefined;
  }

  find<Spec>(kind: Kind, ref: ResourceRef): Found<Spec> {
    this.dependencies.keys.add(keyOf(kind, ref));
    return find(this.input.stored, kind, ref);
  }

  /** Returns the fault of a reference to a missing resource. */
  missing(text: string, kind: Kind, ref: ResourceRef): FieldProblem {
    this.dependencies.names.add(kind);
    return missingFault(text, kind, ref, this.input);
  }

  /** Returns the same for the upstream of a destination. */
  destination(ref: ResourceRef): ReturnType<Reader['upstream']> {
    const isDisabled = ref.name.startsWith(SERVICE_PREFIX) && this.input.settings.disableKubernetesDestinations;
    return isDisabled ? { fault: KUBE_DISABLED } : this.upstream(ref);
  }

  private missingService(ref: ResourceRef): FieldProblem {
    this.dependencies.services = true;
    const text = `*v1.Upstream { ${dotted(ref)} } not found: ${missingServiceReason(ref, this.input.services)}`;
    return { code: 'MISSING_REFERENCE', path: [], message: text, cause: missingCause('Upstream', ref) };
  }

  tables(): readonly StoredResource[] {
    this.dependencies.everyTable = true;
    return this.input.list('RouteTable');
  }

  /** Returns the AuthConfig, why it cannot be used, or a warning about it. */
  authConfig({ name = '', namespace = '' }: Ref): Pick<AuthConfigEntry, 'config' | 'fault' | 'warning'> {
    const ref = { name, namespace };
    const key = keyOf('AuthConfig', ref);
    this.dependencies.keys.add(key);
    return (
      this.input.authConfigs.get(key) ?? {
        fault: this.missing(`AuthConfig ${dotted(ref)} not found`, 'AuthConfig', ref),
      }
    );
  }

  /** Returns why an upstream cannot be used, or a warning about it. */
  upstream(ref: ResourceRef): Partial<Pick<UpstreamEntry, 'upstream' | 'fault' | 'warning'>> {
    const key = keyOf('Upstream', ref);
    this.dependencies.keys.add(key);
    const { upstreams, serviceUpstreams } = this.input;
    const entry = upstreams.get(key) ?? serviceUpstreams.get(key);
    if (!entry && ref.name.startsWith(SERVICE_PREFIX)) return { fault: this.missingService(ref) };
    if (!entry) return { fault: this.missing(`*v1.Upstream { ${dotted(ref)} } not found`, 'Upstream', ref) };
    return entry;
  }
}

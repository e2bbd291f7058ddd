import type { AuthServers } from '../contract/auth-place.ts';
import type { FieldProblem } from '../resource/problem.ts';
import { keyOf, type Kind, type ResourceKey, type ResourceRef } from '../resource/resource.ts';
import type { Ref } from '../schema/field.ts';
import type { RateLimitServer } from '../schema/route/rate-limit.ts';
import type { StoredResource } from '../resource/stored.ts';
import { dotted } from './names.ts';
import { find, type Found, type Resources } from './reference/find.ts';
import type { AuthConfigEntry, AuthConfigTable } from './reference/tables.ts';
import { missingFault } from './reference/missing.ts';
import type { TranslationSettings } from './settings.ts';
import type { UpstreamEntry, UpstreamTable } from './reference/tables.ts';

/** The input of one translation. */
export interface TranslationInput extends Resources {
  readonly settings: TranslationSettings;
  readonly upstreams: UpstreamTable;
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
}

/** Reads the input and records what it read. */
export class Reader {
  readonly input: TranslationInput;
  /** The auth servers of the listener, if the build is for one. */
  readonly authServers: AuthServers;
  /** True if the build is for a listener with a rate limit server. */
  readonly hasLimitServer: boolean;
  readonly dependencies = { keys: new Set<ResourceKey>(), names: new Set<Kind>(), everyTable: false };

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
    const entry = this.input.upstreams.get(key);
    if (!entry) return { fault: this.missing(`*v1.Upstream { ${dotted(ref)} } not found`, 'Upstream', ref) };
    return entry;
  }
}

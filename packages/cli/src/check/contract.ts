import type { Kind, Problem, ResourceRef } from '@edge-gateway/core';
import type { Connection } from '../gateway/connection.ts';

/** One part of the running gateway, as `GET /components` lists it. */
export interface RunningComponent {
  readonly name: string;
  readonly kind: string;
  /** `ready` is good. */
  readonly state: string;
  readonly reason: string;
  /** The resources with the problem that is the reason. */
  readonly resources: readonly (ResourceRef & { readonly kind: string })[];
  /** Names of the listeners without which it is not ready. */
  readonly waitsFor: readonly string[];
}

/** The state of a configuration: of a running gateway or of a directory. */
export interface Configuration {
  /** Every problem, those of excluded checks and other namespaces too. */
  readonly issues: readonly Problem[];
  /** The namespaces that are checked; `undefined` is all. */
  readonly namespaces: ReadonlySet<string> | undefined;
  /** True when there is at least one GraphQLApi. */
  readonly hasApis: boolean;
}

/** What the checks of a running gateway look at. */
export interface CheckInput {
  readonly configuration: Configuration;
  /** The problems of the configuration that some check prints. */
  readonly printed: readonly Problem[];
  /** `undefined` when the gateway does not list its components. */
  readonly components: readonly RunningComponent[] | undefined;
  readonly connection: Connection;
  readonly readOnly: boolean;
  readonly podSelector: string;
  /** The lower-case names given with `--exclude`. */
  readonly excluded: ReadonlySet<string>;
  /** Adds a line that is not an error: a warning, or what was skipped. */
  note(message: string): void;
}

/** One line `Checking <name>... OK`. */
export interface Check {
  readonly name: string;
  /** Its name for `--exclude`. */
  readonly excludedBy: string;
  /** The kind of the resources that it checks. */
  readonly kind?: Kind;
  /**
   * Checks a running gateway. Without it, the problems of the configuration are all.
   *
   * @param configured The problems of the configuration that belong to this check.
   */
  run?(input: CheckInput, configured: readonly string[]): readonly string[] | Promise<readonly string[]>;
}

import type { Kind } from '@edge-gateway/core';
import type { Connection } from '../connection.ts';
import type { StatusObject } from '../objects.ts';

/** One part of the running gateway, as `GET /components` tells. */
export interface RunningComponent {
  readonly name: string;
  readonly kind: string;
  /** `ready` (or `OK`) is good. */
  readonly state: string;
  readonly reason: string;
}

/** What the checks look at. */
export interface CheckInput {
  /** Every resource but the proxies, of the namespaces that are checked. */
  readonly objects: readonly StatusObject[];
  /** Every resource but the proxies, of all namespaces: what references may lead to. */
  readonly everything: readonly StatusObject[];
  readonly proxies: readonly StatusObject[];
  /** `undefined` when the gateway does not tell. */
  readonly components: readonly RunningComponent[] | undefined;
  /** Documents that no status can tell of: unreadable ones, or without kind or name. Empty when there are none. */
  readonly unreadable: string;
  readonly connection: Connection;
  readonly readOnly: boolean;
  readonly podSelector: string;
  /** The lower-case names given with `--exclude`. */
  readonly excluded: ReadonlySet<string>;
  /** Adds a line that is no error: a warning, or what was skipped. */
  note(message: string): void;
}

/** One line `Checking <name>... OK`. */
export interface Check {
  readonly name: string;
  /** Its name for `--exclude`. */
  readonly excludedBy: string;
  /** Of a check of the resources of one kind. */
  readonly kind?: Kind;
  /** The problems found, none when all is well. */
  run(input: CheckInput): readonly string[] | Promise<readonly string[]>;
}

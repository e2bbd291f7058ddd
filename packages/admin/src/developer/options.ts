import type { ControlPlaneState, Loggers } from '@edge-gateway/core';

/** What the developer admin shows. */
export interface DeveloperAdminOptions {
  /** The newest state; `undefined` before the first. */
  state(): ControlPlaneState | undefined;
  /** Default silent. */
  readonly log?: Loggers;
  /** Names, beside `localhost` and IP addresses, that the Host header may have. Default none. */
  readonly allowedHosts?: readonly string[];
}

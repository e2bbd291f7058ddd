import type { Logger, ServerAddress } from '@edge-gateway/core';

/** Where an auth service listens. */
export interface ListenOptions extends ServerAddress {
  readonly log: Logger;
}

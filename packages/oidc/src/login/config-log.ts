import type { Logger } from '@edge-gateway/core';

/** Creates a logger whose lines name the auth config, as those of the other steps do. */
export function configLog(log: Logger, config: string): Logger {
  return {
    debug: (details, message) => log.debug({ config, ...details }, message),
    info: (details, message) => log.info({ config, ...details }, message),
    warn: (details, message) => log.warn({ config, ...details }, message),
    error: (details, message) => log.error({ config, ...details }, message),
    fatal: (details, message) => log.fatal({ config, ...details }, message),
  };
}

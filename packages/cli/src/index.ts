import '@edge-gateway/core/supported-node';
export { CLIENT_VERSION } from './commands/version.ts';
export {
  DEFAULT_PROXY_ADMIN,
  DEFAULT_SERVER,
  createConnection,
  type Connection,
  type ConnectionOptions,
} from './gateway/connection.ts';
export { ERROR_CODES, type CliErrorCode } from './error-codes.ts';
export type { Io } from './io.ts';
export { createProgram } from './program.ts';
export { run } from './run.ts';

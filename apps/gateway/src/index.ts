export { ERROR_CODES } from './error-codes.ts';
export { startAll, type RunningGateway } from './roles/all.ts';
export type { GatewaySettings } from './settings.ts';

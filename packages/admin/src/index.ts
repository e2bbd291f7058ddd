export type { AdminServer } from './admin-server.ts';
export { ERROR_CODES, type AdminErrorCode } from './error-codes.ts';
export type { EndpointCounters, ListeningAddress, ProxyAdminOptions, Readiness } from './proxy/options.ts';
export type { Component, ControlAdminOptions, TranslationRecord } from './control/options.ts';
export type { DeveloperAdminOptions } from './developer/options.ts';

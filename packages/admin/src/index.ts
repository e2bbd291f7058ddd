export type { AdminServer } from './admin-server.ts';
export { ERROR_CODES, type AdminErrorCode } from './error-codes.ts';
export { createProxyAdmin } from './proxy/proxy-admin.ts';
export type { ListeningAddress, ProxyAdminOptions, Readiness } from './proxy/options.ts';
export { createControlAdmin } from './control/control-admin.ts';
export type { Component, ControlAdminOptions, StatsPage, TranslationRecord } from './control/options.ts';
export { followTranslations, type TranslationLog } from './control/translation-log.ts';
export { createDeveloperAdmin, type DeveloperAdminOptions } from './developer-admin.ts';

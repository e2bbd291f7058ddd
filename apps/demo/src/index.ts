export { startAccountPage } from './account-page.ts';
export { startBookinfo } from './bookinfo.ts';
export { DEMO_APP_URL, DEMO_PORTS, startDemo, type Demo, type DemoOptions } from './demo.ts';
export { startEcho } from './echo.ts';
export { ensureSecrets, type GeneratedSecrets } from './generated-secrets.ts';
export { startService, type Service } from './http-service.ts';
export type { DemoClient, Lifetimes } from './identity-provider/configuration.ts';
export { startIdentityProvider, type IdentityProviderOptions } from './identity-provider/identity-provider.ts';
export { DEMO_USERS, type DemoUser } from './identity-provider/users.ts';

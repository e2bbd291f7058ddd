/** Settings from the environment, with defaults for `npm run provider`. */
const { env } = process;
const port = Number(env.PORT ?? 3000);
const issuer = env.ISSUER_URL ?? 'http://127.0.0.1:3001';

export const settings = {
  port,
  issuer,
  /** Key set of the issuer; its discovery document names it as `jwks_uri`. */
  jwks: env.JWKS_URL ?? `${issuer}/jwks`,
  clientId: env.CLIENT_ID ?? 'app',
  /** For the provider on this machine only; set your own secret elsewhere. */
  clientSecret: env.CLIENT_SECRET ?? 'only-for-trying-on-this-machine-0123456789',
  /** URL of the application for browsers. Its `/callback` must be registered at the issuer. */
  appUrl: env.APP_URL ?? `http://127.0.0.1:${port}`,
  admin: env.ADMIN_EMAIL ?? 'admin@example.com',
};

import { staticUpstream } from '../parts/static-upstream.ts';
import { CLIENT_ID, CLIENT_SECRET } from './provider.ts';

/** What browsers call the application, whichever gateway they reach. */
export const APP = 'app.test';
/** Who may use `/token`, and nobody else. */
export const ADMIN = 'admin@example.com';

export interface ResourceParts {
  readonly issuer: string;
  readonly upstreamPort: number;
  /** Block `session` of the AuthConfig. */
  readonly session: object;
  /** How long keys are used before they are read again. */
  readonly keysFor?: string;
}

/** Sessions in this Redis, as the block `session` of an AuthConfig. */
export function redisSession(host: string): object {
  return { failOnFetchFailure: true, cookieOptions: { notSecure: true }, redis: { options: { host } } };
}

/**
 * `/private` needs a login, `/account` a login whose id token is judged again by JWT and RBAC, `/token` a bearer token of
 * the admin, `/public` nothing.
 */
export function resources({ issuer, upstreamPort, session, keysFor = '5m' }: ResourceParts): string {
  const keys = `jwks: { remote: { url: '${issuer}/jwks', upstreamRef: { name: idp }, cacheDuration: ${keysFor} } }`;
  const claims = 'claimsToHeaders: [{ claim: email, header: x-claim-email }]';
  const login = 'extauth: { configRef: { name: login, namespace: gw-system } }';
  return `${staticUpstream('site', upstreamPort)}---
${staticUpstream('idp', Number(new URL(issuer).port))}---
apiVersion: v1
kind: Secret
metadata: { name: client }
type: extauth.vendor.io/oauth
stringData: { client-secret: ${CLIENT_SECRET} }
---
apiVersion: enterprise.gw.vendor.io/v1
kind: AuthConfig
metadata: { name: login }
spec:
  configs:
    - oauth2:
        oidcAuthorizationCode:
          issuerUrl: ${issuer}
          appUrl: http://${APP}
          callbackPath: /private/callback
          clientId: ${CLIENT_ID}
          clientSecretRef: { name: client, namespace: gw-system }
          scopes: [email]
          discoveryPollInterval: ${keysFor}
          headers: { idTokenHeader: jwt }
          identityToken: { claimsToHeaders: [{ claim: email, header: x-email }] }
          session: ${JSON.stringify(session)}
---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: site }
spec:
  virtualHost:
    domains: ['*']
    routes:
      - matchers: [{ prefix: /private }]
        routeAction: { single: { upstream: { name: site } } }
        options: { ${login} }
      - matchers: [{ prefix: /account }]
        routeAction: { single: { upstream: { name: site } } }
        options:
          ${login}
          jwtProvidersStaged:
            afterExtAuth:
              providers:
                main: { issuer: '${issuer}', audiences: [${CLIENT_ID}], tokenSource: { headers: [{ header: jwt }] }, ${claims}, ${keys} }
          rbac:
            policies:
              readers:
                principals: [{ jwtPrincipal: { claims: { aud: ${CLIENT_ID} } } }]
                permissions: { methods: [GET], pathPrefix: /account }
      - matchers: [{ prefix: /token }]
        routeAction: { single: { upstream: { name: site } } }
        options:
          jwtProvidersStaged:
            afterExtAuth:
              providers:
                main: { issuer: '${issuer}', ${claims}, ${keys} }
          rbac: { policies: { admin: { principals: [{ jwtPrincipal: { claims: { email: ${ADMIN} } } }] } } }
      - matchers: [{ prefix: /public }]
        routeAction: { single: { upstream: { name: site } } }
`;
}

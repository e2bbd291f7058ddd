import { generateKeyPairSync, randomBytes } from 'node:crypto';
import type { Configuration, JWK } from 'oidc-provider';
import { createMemoryAdapter } from './memory-adapter.ts';
import { loggingOutPage, logoutPage } from './login-page.ts';
import { DEMO_USERS } from './users.ts';
import { escapeHtml, htmlPage, PAGE_HEADERS } from '../html.ts';

/** The application that may send its users here. */
export interface DemoClient {
  readonly clientId: string;
  readonly clientSecret: string;
  /** Redirect URIs that are allowed, exactly. */
  readonly redirectUris: readonly string[];
  readonly postLogoutRedirectUris: readonly string[];
  /** Notified of logouts at the provider. Default: none. */
  readonly backchannelLogoutUri?: string;
}

/** Lifetimes of what is issued, in seconds. */
export interface Lifetimes {
  /** Default 600. */
  readonly token: number;
  /** Of refresh tokens and the session at the provider. Default 14 days. */
  readonly session: number;
}

const SCOPES = ['openid', 'email', 'profile', 'groups', 'offline_access'];

/** What `oidc-provider` is configured with: one client, all consents given, new keys at each start. */
export function configurationOf(client: DemoClient, { token, session }: Lifetimes): Configuration {
  return {
    adapter: createMemoryAdapter(),
    clients: [metadataOf(client)],
    jwks: { keys: [signingKey()] },
    cookies: { keys: [randomBytes(32).toString('hex')] },
    scopes: SCOPES,
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'], groups: ['groups'] },
    // The id token carries the claims of its scopes, so that a gateway can decide by them.
    conformIdTokenClaims: false,
    findAccount: (_ctx, id) => {
      const user = DEMO_USERS.find(({ email }) => email === id);
      if (!user) return undefined;
      const { email, name, groups } = user;
      return { accountId: id, claims: () => ({ sub: id, email, email_verified: true, name, groups: [...groups] }) };
    },
    features: {
      devInteractions: { enabled: false },
      introspection: { enabled: true, allowedPolicy: ownToken },
      revocation: { enabled: true, allowedPolicy: ownToken },
      backchannelLogout: { enabled: true },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: (ctx, form) => {
          if (!isFromClient(ctx.get('referer'), client)) {
            ctx.body = logoutPage(form);
            return;
          }
          const nonce = randomBytes(16).toString('base64');
          ctx.set('content-security-policy', `${PAGE_HEADERS['content-security-policy']}; script-src 'nonce-${nonce}'`);
          ctx.body = loggingOutPage(form, nonce);
        },
        postLogoutSuccessSource: (ctx) => {
          ctx.body = htmlPage('Logged out', '<p>Your session at the identity provider is over.</p>');
        },
      },
    },
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    loadExistingGrant: async (ctx) => {
      const { oidc } = ctx;
      const { Grant } = oidc.provider;
      const known = oidc.session?.grantIdFor(oidc.client!.clientId);
      const found = known ? await Grant.find(known) : undefined;
      if (found) return found;
      const grant = new Grant({ clientId: oidc.client!.clientId, accountId: oidc.session!.accountId });
      grant.addOIDCScope(SCOPES.join(' '));
      await grant.save();
      return grant;
    },
    issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: true,
    ttl: {
      AccessToken: token,
      IdToken: token,
      Grant: session,
      Session: session,
      RefreshToken: session,
      Interaction: 3600,
    },
    renderError: (ctx, out) => {
      ctx.type = 'html';
      ctx.body = htmlPage(
        'This does not work',
        `<p>${escapeHtml(out.error)}: ${escapeHtml(out.error_description ?? '')}</p>`,
      );
    },
    // Loopback addresses are what a demo has; the provider's own dispatcher rejects them.
    fetch: (url, options) => {
      const { dispatcher: _own, ...rest } = options as RequestInit & { dispatcher?: unknown };
      return fetch(url, rest);
    },
  };
}

/** Returns true if the user clicked on a page of the client: no other site can send this `Referer`, so no confirmation is needed. */
function isFromClient(referer: string, { redirectUris }: DemoClient): boolean {
  const from = URL.parse(referer)?.origin;
  return from !== undefined && redirectUris.some((uri) => new URL(uri).origin === from);
}

/** A client may introspect and revoke its own tokens. */
const ownToken = (_ctx: unknown, client: { clientId: string }, token: { clientId?: string }): boolean =>
  token.clientId === client.clientId;

function metadataOf(client: DemoClient) {
  return {
    client_id: client.clientId,
    client_secret: client.clientSecret,
    redirect_uris: [...client.redirectUris],
    post_logout_redirect_uris: [...client.postLogoutRedirectUris],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code' as const],
    token_endpoint_auth_method: 'client_secret_basic' as const,
    ...(client.backchannelLogoutUri && { backchannel_logout_uri: client.backchannelLogoutUri }),
  };
}

function signingKey(): JWK {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256', kid: randomBytes(8).toString('hex') };
}

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider, type Configuration } from 'oidc-provider';

/** A real identity provider in this process, with a record of the calls of its token endpoint. */
export interface IdentityProvider {
  readonly issuer: string;
  readonly provider: Provider;
  readonly tokenCalls: string[];
  /** Answers in place of the provider, for faults; return true when answered. */
  intercept: ((req: IncomingMessage, res: ServerResponse) => boolean) | undefined;
  close(): Promise<void>;
}

export const CLIENT_ID = 'web';
export const CLIENT_SECRET = 'a-secret-of-more-than-thirty-two-characters';

/** Read whenever a token is made. */
export interface ProviderTimes {
  readonly accessTokenSeconds?: number;
  readonly idTokenSeconds?: number;
}

export async function startIdentityProvider(options: {
  redirectUris: string[];
  postLogout?: string[];
  times?: ProviderTimes;
  backChannel?: string;
  configuration?: Configuration;
}): Promise<IdentityProvider> {
  const server: Server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT_ID,
        client_secret: CLIENT_SECRET,
        redirect_uris: options.redirectUris,
        post_logout_redirect_uris: options.postLogout ?? [],
        grant_types: ['authorization_code', 'refresh_token'],
        ...(options.backChannel && {
          backchannel_logout_uri: options.backChannel,
          backchannel_logout_session_required: true,
        }),
      },
    ],
    claims: { openid: ['sub'], email: ['email'], profile: ['name'] },
    conformIdTokenClaims: false,
    findAccount: (_ctx, id) => ({ accountId: id, claims: () => ({ sub: id, email: id, name: 'Zoë' }) }),
    features: {
      revocation: { enabled: true },
      backchannelLogout: { enabled: options.backChannel !== undefined },
      rpInitiatedLogout: { enabled: true },
    },
    rotateRefreshToken: true,
    issueRefreshToken: () => true,
    ttl: {
      AccessToken: () => options.times?.accessTokenSeconds ?? 3600,
      IdToken: () => options.times?.idTokenSeconds ?? 3600,
      RefreshToken: 86_400,
      Session: 3600,
      Grant: 86_400,
      Interaction: 600,
    },
    cookies: { keys: ['a key for the cookies of the provider'] },
    loadExistingGrant: async (ctx) => {
      const grant = new ctx.oidc.provider.Grant({
        accountId: ctx.oidc.session!.accountId!,
        clientId: ctx.oidc.client!.clientId,
      });
      grant.addOIDCScope('openid email profile offline_access');
      await grant.save();
      return grant;
    },
    fetch: async (url, init) => fetch(url, { ...init, dispatcher: undefined } as RequestInit),
    ...options.configuration,
  });
  const tokenCalls: string[] = [];
  const handle = provider.callback();
  const result: IdentityProvider = {
    issuer,
    provider,
    tokenCalls,
    intercept: undefined,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  server.on('request', (req, res) => {
    if (req.url === '/token') tokenCalls.push(req.url);
    if (result.intercept?.(req, res)) return;
    void handle(req, res);
  });
  return result;
}

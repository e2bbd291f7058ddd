import { failure } from '../error-codes.ts';
import { createMicrosoftCall } from './microsoft.ts';

/** A token is renewed this many seconds before it expires. */
const EARLY_SECONDS = 60;
const PRINTABLE = /^[\x21-\x7e]+$/;

/** The token of an application (client credentials grant). */
export interface AppToken {
  /** Makes one call for all concurrent callers. Rejects with `ERR_OIDC_GROUPS_UNAVAILABLE`. */
  get(): Promise<string>;
  /** Discards a token that was rejected. */
  forget(token: string): void;
}

/** An application of a tenant, and the origins of Microsoft's services. */
export interface Application {
  readonly clientId: string;
  readonly tenantId: string;
  readonly clientSecret: string;
  readonly login: string;
  readonly graph: string;
}

/** Creates an {@link AppToken} for Graph; it is kept until shortly before it expires. */
export function createAppToken(application: Application, now: () => number): AppToken {
  const { clientId, tenantId, clientSecret, login, graph } = application;
  const call = createMicrosoftCall(now);
  const url = `${login}/${encodeURIComponent(tenantId)}/oauth2/v2.0/token`;
  const client = { client_id: clientId, client_secret: clientSecret, scope: `${graph}/.default` };
  const body = new URLSearchParams({ grant_type: 'client_credentials', ...client }).toString();
  const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' };
  let stored: { readonly token: string; readonly until: number } | undefined;
  let flight: Promise<string> | undefined;

  async function fetchToken(): Promise<string> {
    const asked = now();
    const response = await call(url, { method: 'POST', headers, body });
    const { access_token: token, expires_in: seconds } = response.body;
    if (response.status !== 200)
      throw failure('ERR_OIDC_GROUPS_UNAVAILABLE', `cannot get a token to read groups, ${response.summary}`);
    if (typeof token !== 'string' || !PRINTABLE.test(token))
      throw failure('ERR_OIDC_GROUPS_UNAVAILABLE', `invalid token to read groups, ${response.summary}`);
    const lifetime = Number(seconds) - EARLY_SECONDS;
    if (lifetime > 0) stored = { token, until: asked + lifetime * 1000 };
    return token;
  }

  return {
    async get() {
      if (stored && now() < stored.until) return stored.token;
      flight ??= fetchToken().finally(() => {
        flight = undefined;
      });
      return flight;
    },
    forget(token) {
      if (stored?.token === token) stored = undefined;
    },
  };
}

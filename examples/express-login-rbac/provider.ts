import { Provider } from 'oidc-provider';
import { settings } from './settings.ts';

// An identity provider for local tests: it accepts every name with every password. Never use it elsewhere.
const { issuer, clientId, clientSecret, appUrl } = settings;
const client = {
  client_id: clientId,
  client_secret: clientSecret,
  redirect_uris: [`${appUrl}/callback`],
  post_logout_redirect_uris: [`${appUrl}/`],
};
const provider = new Provider(issuer, {
  clients: [client],
  claims: { openid: ['sub'], email: ['email'] },
  conformIdTokenClaims: false,
  findAccount: (_ctx, id) => ({ accountId: id, claims: () => ({ sub: id, email: id }) }),
});
const server = provider.listen(Number(new URL(issuer).port), '127.0.0.1', () => console.log(`running at ${issuer}`));
server.once('error', (error) => {
  console.error(`cannot listen at ${issuer} (${error.message}): set ISSUER_URL, for npm start too, to a free port`);
  process.exit(1);
});

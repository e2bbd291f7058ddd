import { identityOf, protect } from '@edge-gateway/core';
import { oidc } from '@edge-gateway/oidc';
import { jwt, rbac } from '@edge-gateway/rbac';
import express from 'express';
import { settings } from './settings.ts';

const { port, issuer, jwks, clientId, clientSecret, appUrl, admin } = settings;

/** Redirects browsers without a session to the issuer; scripts receive 401. The token stays on the server. */
const login = oidc({
  issuerUrl: issuer,
  clientId,
  clientSecret,
  appUrl,
  callbackPath: '/callback',
  logoutPath: '/logout',
  scopes: ['email'],
  headers: { idTokenHeader: 'jwt' },
  session: {
    // In memory; in Redis with `redis: { options: { host: 'localhost:6379' } }`.
    redis: {},
    cookieOptions: { notSecure: appUrl.startsWith('http:') },
  },
});

/** Verifies the token that the login puts into the header `jwt`, for the policies that follow. */
const token = jwt({
  providers: { issuer: { issuer, audiences: [clientId], jwks, tokenSource: { headers: [{ header: 'jwt' }] } } },
});

const anybody = {
  principals: [{ jwtPrincipal: { claims: { iss: issuer } } }],
  permissions: { pathPrefix: '/account' },
};
const admins = { principals: [{ jwtPrincipal: { claims: { email: admin } } }], permissions: { pathPrefix: '/admin' } };

const app = express();
app.disable('x-powered-by');
app.get('/', (_req, res) => {
  res.type('html').send('<a href="/account">your account</a> <a href="/admin">administration</a>\n');
});
// Everything below requires a login, and a policy for its path.
app.use(protect(login, token, rbac({ policies: { anybody, admins } })));
app.get('/account', (req, res) => {
  res.json({ email: identityOf(req)?.claims['email'], logout: '/logout' });
});
app.get('/admin', (req, res) => {
  res.json({ admin: identityOf(req)?.claims['email'] });
});

app.listen(port, (error) => {
  if (!error) return console.log(`running at ${appUrl}`);
  console.error(`cannot listen on port ${port} (${error.message}): set PORT to a free one`);
  process.exit(1);
});

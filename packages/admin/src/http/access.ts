import type { Request, RequestHandler, Response } from 'express';
import { isNavigation, parseCookies, signsOf } from '@edge-gateway/core';
import { adminError } from '../error-codes.ts';
import { STYLE_PATH } from '../page/assets.ts';
import { signInPage } from '../page/sign-in-page.ts';
import type { AdminToken } from './admin-token.ts';
import { send } from './endpoint-response.ts';

export const SIGN_IN_PATH = '/sign-in';
export const SIGN_OUT_PATH = '/sign-out';

const COOKIE = 'edge_gateway_admin';
const ATTRIBUTES = 'Path=/; HttpOnly; SameSite=Strict';

/** Paths that need no token: health checks cannot send one, and they reveal nothing else. */
const OPEN_PATHS: ReadonlySet<string> = new Set(['/ready', STYLE_PATH]);

/** Returns true if a request that {@link requireToken} has let pass has a session cookie, so that the browser can sign out. */
export function isSignedIn(req: Request, token: AdminToken | undefined): boolean {
  return token !== undefined && sessionsOf(req).length > 0;
}

/**
 * Rejects requests with neither the token (`Authorization: Bearer`) nor a session cookie with `ERR_ADMIN_UNAUTHORIZED`. Browser navigations
 * receive the sign-in form instead.
 */
export function requireToken(token: AdminToken): RequestHandler {
  return async function adminAccess(req, res, next) {
    if (OPEN_PATHS.has(req.path)) return next();
    const bearer = /^bearer +(\S+)$/i.exec(req.headers.authorization ?? '')?.[1];
    if (bearer !== undefined && (await token.isToken(bearer))) return next();
    if (bearer === undefined && (await hasSession(req, token))) return next();
    if (req.method === 'GET' && isNavigation(signsOf(req)))
      return signIn(res, { returnTo: req.path === SIGN_IN_PATH ? '/' : req.url });
    throw adminError('ERR_ADMIN_UNAUTHORIZED', undefined, { headers: { 'www-authenticate': 'Bearer realm="admin"' } });
  };
}

/** Handles the form of the sign-in page; its body has already been read. */
export function signInHandler(token: AdminToken): RequestHandler {
  return async function adminSignIn(req, res) {
    const form = new URLSearchParams(typeof req.body === 'string' ? req.body : '');
    const returnTo = form.get('return') ?? '/';
    if (!(await token.isToken((form.get('token') ?? '').trim()))) return signIn(res, { returnTo, isWrong: true });
    res.set('set-cookie', `${COOKIE}=${token.createSession()}; ${ATTRIBUTES}`);
    return redirect(res, isLocalPath(returnTo) ? returnTo : '/');
  };
}

/** Ends the session of a browser. */
export const signOutHandler: RequestHandler = function adminSignOut(_req, res) {
  res.set('set-cookie', `${COOKIE}=; Max-Age=0; ${ATTRIBUTES}`);
  return redirect(res, '/');
};

function signIn(res: Response, asked: { readonly returnTo: string; readonly isWrong?: boolean }): Promise<void> {
  return send(res, signInPage(SIGN_IN_PATH, asked));
}

/** Redirects after a form, so that a reload of the page does not submit it again. */
function redirect(res: Response, path: string): Promise<void> {
  return send(res, { status: 303, body: '', headers: { location: path } });
}

/** Browsers resolve `//host` and `/\host` to another host. */
function isLocalPath(path: string): boolean {
  return /^\/(?![/\\])[!-~]*$/.test(path);
}

async function hasSession(req: Request, token: AdminToken): Promise<boolean> {
  for (const session of sessionsOf(req)) if (await token.isSession(session)) return true;
  return false;
}

function sessionsOf({ headers: { cookie } }: Request): readonly string[] {
  return (parseCookies(cookie).get(COOKIE) ?? []).filter((session) => session !== '');
}

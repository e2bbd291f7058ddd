import type { IncomingMessage } from 'node:http';
import { digest, type AuthRequest } from '@edge-gateway/core';
import { sourceOf } from '../http/auth-request.ts';
import { failure } from '../error-codes.ts';
import { isSameUser, type Session, type SessionStorage } from './session.ts';

/** `req.session` of express-session. */
interface RequestSession {
  [key: string]: unknown;
  regenerate(done: (error?: unknown) => void): void;
}

/** Property of `req.session` with the login. */
const PROPERTY = 'edgeGatewayLogin';

/**
 * Creates a storage in the `req.session` of the application. A login gets a new session id, which prevents session
 * fixation. Other content of the session is kept only if it belongs to the same user, or to none yet.
 */
export function createRequestStorage(id: string): SessionStorage {
  const property = `${PROPERTY}:${id}`;
  const sessionOf = (request: AuthRequest): RequestSession => {
    const { session } = sourceOf(request) as IncomingMessage & { session?: RequestSession };
    if (!session) throw failure('ERR_OIDC_CONFIG', "session 'request' needs express-session before this middleware");
    return session;
  };
  const regenerate = async (request: AuthRequest, isKept: (key: string) => boolean): Promise<void> => {
    const before = sessionOf(request);
    const others = Object.entries(before).filter(([key]) => key !== 'cookie' && key !== property && isKept(key));
    await new Promise<void>((resolve, reject) => {
      before.regenerate((error) => (error ? reject(unavailable(error)) : resolve()));
    });
    Object.assign(sessionOf(request), Object.fromEntries(others));
  };
  return {
    inBrowser: true,
    async load(request) {
      const session = sessionOf(request)[property] as Session | undefined;
      return session && { session, id: digest(session.refreshToken ?? session.accessToken) };
    },
    async create(request, session, { before } = {}) {
      const isSameOrFirst = before === undefined || isSameUser(before.session, session);
      await regenerate(request, () => isSameOrFirst);
      sessionOf(request)[property] = session;
      return [];
    },
    async update(request, _held, session) {
      sessionOf(request)[property] = session;
      return [];
    },
    async remove(request) {
      if (sessionOf(request)[property] !== undefined) await regenerate(request, () => false);
      return [];
    },
    exclusively: (stored, work) => work(stored),
  };
}

function unavailable(cause: unknown): Error {
  return failure('ERR_OIDC_STORE_UNAVAILABLE', undefined, cause);
}

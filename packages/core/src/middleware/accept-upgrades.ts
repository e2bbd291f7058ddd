import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { coreError } from '../error-codes.ts';
import type { ProtectedHandler } from './protect.ts';
import { createUpgradeResponse } from './upgrade-response.ts';

/** The required part of a `node:http` or `node:https` server. */
export interface UpgradeServer {
  on(event: 'upgrade', listener: (req: IncomingMessage, socket: Duplex, head: Buffer) => void): unknown;
  listenerCount(event: 'upgrade'): number;
}

/** What frameworks add to a request below a mount path. */
interface Mounted extends IncomingMessage {
  originalUrl?: string;
  baseUrl?: string;
}

/**
 * Passes the upgrades of a server to chains by path, as `app.use(path, chain)` does for requests: the chain sees the rest
 * of the path. The longest matching path wins; as in Express, paths are case-insensitive. Other upgrades are rejected with 404, unless
 * the server has another `upgrade` listener. Returns the server. Throws `ERR_CORE_MIDDLEWARE` for a path without a leading
 * slash, or a chain that was not created by `protect`.
 *
 * @example
 * const server = app.listen(8080);
 * acceptUpgrades(server, { '/graphql': protect(jwt({ providers }), api) });
 */
export function acceptUpgrades<Server extends UpgradeServer>(
  server: Server,
  chains: Readonly<Record<string, ProtectedHandler>>,
): Server {
  const mounts = Object.entries(chains)
    .map(([path, chain]) => ({ path: mountPath(path, chain), chain }))
    .sort((a, b) => b.path.length - a.path.length);
  server.on('upgrade', (req, socket, head) => {
    const url = req.url ?? '/';
    const mount = mounts.find(({ path }) => isBelow(url, path));
    if (mount) mount.chain.upgrade(below(mount.path, req), socket, head);
    else if (server.listenerCount('upgrade') === 1) notFound(req, socket as Socket);
  });
  return server;
}

function mountPath(path: string, chain: ProtectedHandler): string {
  const written = JSON.stringify(path);
  if (!/^\/[^?#]*$/.test(path))
    throw coreError('ERR_CORE_MIDDLEWARE', `acceptUpgrades: invalid path ${written}: it must begin with a slash`);
  if (typeof chain?.upgrade !== 'function')
    throw coreError('ERR_CORE_MIDDLEWARE', `acceptUpgrades: ${path}: use protect(...handlers)`);
  return path.replace(/\/+$/, '');
}

/** Returns true if a path is the mount path or below it. */
function isBelow(url: string, path: string): boolean {
  if (!url.startsWith('/') || url.slice(0, path.length).toLowerCase() !== path.toLowerCase()) return false;
  const behind = url[path.length];
  return behind === undefined || behind === '/' || behind === '?';
}

/** Strips the mount path, as Express does. */
function below(path: string, req: IncomingMessage): IncomingMessage {
  const mounted = req as Mounted;
  const url = req.url ?? '/';
  mounted.originalUrl ??= url;
  mounted.baseUrl = path;
  const rest = url.slice(path.length);
  mounted.url = rest.startsWith('/') ? rest : `/${rest}`;
  return mounted;
}

function notFound(req: IncomingMessage, socket: Socket): void {
  const res = createUpgradeResponse(req, socket);
  res?.writeHead(404, { 'content-length': '0' }).end();
}

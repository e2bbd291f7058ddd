import type { Listener, Route, VirtualHost } from '@edge-gateway/core';

/** The upgrade that a request asks for. */
export type UpgradeKind = 'websocket' | 'connect';

/** The upgrades that a route allows. */
export interface Upgrades {
  readonly websocket: boolean;
  /** Whether a CONNECT request is forwarded or terminated to TCP. */
  readonly connect: 'refused' | 'forward' | 'terminate';
}

/** The default upgrades of a listener. */
export const DEFAULT_UPGRADES: Upgrades = { websocket: true, connect: 'refused' };

/** Compiles `upgrades`; kinds that are not listed are those of `inherited`. */
export function compileUpgrades(listed: Route['options']['upgrades'], inherited: Upgrades): Upgrades {
  if (!listed) return inherited;
  let { websocket, connect } = inherited;
  for (const upgrade of listed) {
    if (upgrade.websocket) websocket = upgrade.websocket.enabled !== false;
    else if (upgrade.connect) connect = upgrade.connect.enabled === false ? 'refused' : 'forward';
    else if (upgrade.connectTerminate) connect = upgrade.connectTerminate.enabled === false ? 'refused' : 'terminate';
  }
  return { websocket, connect };
}

/** Returns true if the upgrade of a request is allowed; `kind` is missing for an ordinary request. */
export function allowsUpgrade({ websocket, connect }: Upgrades, kind: UpgradeKind | undefined): boolean {
  return kind === 'websocket' ? websocket : kind !== 'connect' || connect !== 'refused';
}

const hostsWithWebSockets = new WeakMap<VirtualHost, boolean>();

/** Returns true if a listener or one of its routes allows WebSockets. */
export function allowsWebSockets({
  httpOptions,
  virtualHosts,
}: Pick<Listener, 'httpOptions' | 'virtualHosts'>): boolean {
  const written = httpOptions.httpConnectionManagerSettings?.upgrades;
  return compileUpgrades(written, DEFAULT_UPGRADES).websocket || virtualHosts.some(hasWebSockets);
}

/** Checks the routes; called only if the listener does not allow WebSockets. */
function hasWebSockets(host: VirtualHost): boolean {
  let known = hostsWithWebSockets.get(host);
  if (known === undefined) {
    known = host.routes.some(({ options }) =>
      options.upgrades?.some(({ websocket }) => websocket?.enabled !== false && websocket),
    );
    hostsWithWebSockets.set(host, known);
  }
  return known;
}

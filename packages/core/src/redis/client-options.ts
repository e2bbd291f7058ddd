import type { RedisOptions } from '../schema/auth/session.ts';
import { readRedisAddress, readRedisCertificates, type RedisAddress, type RedisSentinels } from './address.ts';

/** Options for `createClient` of the package `redis`. */
export type RedisClientOptions = ReturnType<typeof clientOptions>;

/** Options for `createCluster` of the package `redis`. */
export type RedisClusterOptions = ReturnType<typeof clusterOptions>;

/** Options for `createSentinel` of the package `redis`. */
export type RedisSentinelOptions = ReturnType<typeof sentinelOptions>;

/** Commands without a response on one connection. */
export const MAX_WAITING = 1000;
const CONNECT_TIMEOUT_MS = 700;
const RECONNECT_MS = 200;
/** After this many failed attempts the next command connects again, so that a process that only waits for Redis may end. */
const MAX_RECONNECTS = 25;
/** How long the client waits until it asks another server of a cluster, or another sentinel, for the replacement of a lost server. */
const DISCOVERY_MS = 250;
const SENTINEL_SCAN_MS = 1000;

/** No connection within the time. */
export const NOT_CONNECTED = new Error('no connection');

interface Factories<Client> {
  readonly createClient: (options: RedisClientOptions) => Client;
  readonly createCluster?: (options: RedisClusterOptions) => unknown;
  readonly createSentinel?: (options: RedisSentinelOptions) => unknown;
}

/** Returns a function that creates clients for an address. Throws a `TypeError` for one that is invalid or not supported by the caller. */
export function clientFactory<Client>(options: RedisOptions, factories: Factories<Client>): () => Client {
  const { cluster, sentinels } = readRedisAddress(options);
  const { createClient, createCluster, createSentinel } = factories;
  if (cluster) {
    if (!createCluster) throw new TypeError('redis: a cluster is not supported here');
    return () => createCluster(clusterOptions(options, readRedisAddress(options))) as Client;
  }
  if (sentinels) {
    if (!createSentinel) throw new TypeError('redis: sentinels are not supported here');
    return () => createSentinel(sentinelOptions(options, readRedisAddress(options), sentinels)) as Client;
  }
  return () => createClient(clientOptions(options, readRedisAddress(options)));
}

/** The deadline of this package is shorter, and that of the client costs a signal and an error for each command. */
const COMMAND_OPTIONS = { timeout: 0 } as const;

function clientOptions(options: RedisOptions, { socket, username, password, database }: RedisAddress) {
  return {
    ...loginOf({ username, password }),
    database,
    ...queueOptions(),
    commandOptions: COMMAND_OPTIONS,
    socket: { ...timing(), ...socketOf(socket, options) },
  };
}

function clusterOptions(options: RedisOptions, { socket, cluster, username, password }: RedisAddress) {
  const defaults = { ...loginOf({ username, password }), ...queueOptions() };
  const tls = tlsOf(socket, options);
  return {
    rootNodes: cluster!.map(({ host, port }) => ({ socket: { ...timing(), ...tls, host, port } })),
    defaults: { ...defaults, socket: { ...timing(), ...tls } },
    commandOptions: COMMAND_OPTIONS,
    topologyRefreshOnReconnectionAttemptStrategy: DISCOVERY_MS,
  };
}

function sentinelOptions(options: RedisOptions, address: RedisAddress, { nodes, name, ...login }: RedisSentinels) {
  const socket = { ...timing(), ...tlsOf(address.socket, options) };
  const { username, password, database } = address;
  return {
    name,
    sentinelRootNodes: nodes.map((node) => ({ ...node })),
    nodeClientOptions: { ...loginOf({ username, password }), database, ...queueOptions(), socket },
    sentinelClientOptions: { ...loginOf(login), ...queueOptions(), socket },
    commandOptions: COMMAND_OPTIONS,
    // Commands of a server that is gone must fail rather than be repeated: they may have been executed.
    maxCommandRediscovers: 0,
    passthroughClientErrorEvents: true,
    scanInterval: SENTINEL_SCAN_MS,
  };
}

function loginOf({ username, password }: { readonly username?: string; readonly password?: string }) {
  return { ...(username && { username }), ...(password && { password }) };
}

function queueOptions() {
  return { disableOfflineQueue: true, commandsQueueMaxLength: MAX_WAITING };
}

function timing() {
  return { connectTimeout: CONNECT_TIMEOUT_MS, reconnectStrategy };
}

function reconnectStrategy(attempts: number): number | Error {
  return attempts < MAX_RECONNECTS ? RECONNECT_MS : NOT_CONNECTED;
}

function socketOf(socket: RedisAddress['socket'], options: RedisOptions) {
  if ('path' in socket) return socket;
  const { host, port } = socket;
  return { host, port, ...tlsOf(socket, options) };
}

function tlsOf(socket: RedisAddress['socket'], { tlsCertMountPath }: RedisOptions) {
  return 'tls' in socket && socket.tls ? { tls: true as const, ...readRedisCertificates(tlsCertMountPath) } : {};
}

import { once } from 'node:events';
import { GatewayProcess, until } from '../../apps/gateway/test/gateway-process.ts';
import { createPerson, type Person } from './person.ts';
import { startProvider, type Provider } from './provider.ts';
import { ADMIN, redisSession, resources } from './resources.ts';
import { startUpstream, type Upstream } from './upstream.ts';

/** Addresses of an application, with its identity provider and the people who use it. */
export interface Site {
  readonly nodes: readonly { readonly url: string }[];
  readonly provider: Provider;
  readonly upstream: Upstream;
  /** People who are logged in. */
  readonly people: readonly Person[];
  /** The nodes that run take turns. */
  next(): { readonly url: string };
  isUp(node: { readonly url: string }): boolean;
}

/** Gateways, each a process of its own, that share a Redis; an identity provider; an application; people who use it. */
export interface World extends Site {
  readonly nodes: readonly GatewayProcess[];
  readonly provider: Provider;
  readonly upstream: Upstream;
  /** People who are logged in. */
  readonly people: readonly Person[];
  /** The gateways that run take turns. */
  next(): GatewayProcess;
  isUp(node: GatewayProcess): boolean;
  /** Ends a gateway in the middle of what it does; `next` leaves it out from just before. */
  kill(node: GatewayProcess): Promise<void>;
  revive(node: GatewayProcess): Promise<void>;
  /** Writes other resources for every gateway: another block `session`, or another time for which keys are used. */
  configure(parts: { readonly session?: object; readonly keysFor?: string }): void;
  /** Has the people log in, and every gateway know its keys. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

export interface WorldOptions {
  /** Address of Redis. */
  readonly redis: string;
  readonly count?: number;
  readonly people?: number;
  /** The provider is there only after its `start`. */
  readonly providerIsAway?: true;
}

/** Starts a world; nobody is logged in before `settle`. */
export async function startWorld({ redis, count = 3, people = 10, providerIsAway }: WorldOptions): Promise<World> {
  const provider = await startProvider();
  const upstream = await startUpstream();
  const nodes = Array.from({ length: count }, () => new GatewayProcess());
  const down = new Set<GatewayProcess>();
  let turn = 0;
  const world: World = {
    nodes,
    provider,
    upstream,
    people: Array.from({ length: people }, (_, i) => createPerson(`person-${i}@example.com`)),
    next() {
      const up = nodes.filter((node) => !down.has(node));
      return up[turn++ % up.length]!;
    },
    isUp: (node) => !down.has(node),
    async kill(node) {
      down.add(node);
      const gone = once(node.child, 'exit');
      node.child.kill('SIGKILL');
      await gone;
    },
    async revive(node) {
      await node.start();
      down.delete(node);
    },
    configure(parts) {
      const { issuer } = provider;
      const text = resources({ issuer, upstreamPort: upstream.port, session: redisSession(redis), ...parts });
      for (const node of nodes) node.write('all.yaml', text);
    },
    settle: () => settle(world),
    async close() {
      await Promise.all(nodes.map((node) => node.close()));
      await provider.stop();
      await upstream.close();
    },
  };
  world.configure({});
  if (providerIsAway) await provider.stop();
  try {
    await Promise.all(nodes.map((node) => node.start()));
    return world;
  } catch (error) {
    await world.close();
    throw error;
  }
}

/** Has the people log in, and every node know its keys. */
export async function settle(site: Site): Promise<void> {
  // What was just started may be too slow at first.
  const hasLoggedIn = async (person: Person): Promise<boolean> =>
    (await person.visit('/private/page', () => site.next().url)).status === 200;
  for (const person of site.people) await until(() => hasLoggedIn(person), 'a login');
  for (const { url } of site.nodes) {
    await until(async () => (await newcomer().visit('/private/page', () => url)).status === 200, 'a login');
    await site.people[0]!.ask(`${url}/token`, { headers: bearer(site, ADMIN) });
    await site.people[0]!.ask(`${url}/account`);
  }
}

/** Logs someone in; throws when that does not end at the page. */
export async function logIn(world: World, person: Person): Promise<Person> {
  const { status, text } = await person.visit('/private/page', () => world.next().url);
  if (status !== 200) throw new Error(`the login ended with ${status}: ${text}`);
  return person;
}

/** Shorter than the largest difference of clocks, so that a provider that is late gives tokens that have ended. */
const BEARER_SECONDS = 120;
let serial = 0;

/** Someone who was never here before. */
export function newcomer(prefix = 'new-'): Person {
  return createPerson(`${prefix}${serial++}@example.com`);
}

/** Headers with a token of one's own that was never seen before. */
export function bearer({ provider }: Pick<Site, 'provider'>, email: string): Record<string, string> {
  const now = Math.floor(Date.now() / 1000) + provider.clockSeconds;
  return {
    authorization: `Bearer ${provider.sign({ email, sub: email, nbf: now, exp: now + BEARER_SECONDS, jti: String(serial++) })}`,
  };
}

import { kindOf, type Kind } from './answer-kind.ts';
import { NAVIGATION, SCRIPT, type Ask, type Person } from './person.ts';
import { ADMIN } from './resources.ts';
import { openSocket, type Socket } from './socket.ts';
import type { Expected, Flow } from './traffic.ts';
import { EVENTS } from './upstream.ts';
import { bearer, newcomer, type Site } from './world.ts';

/** Requests of people with a session that a redirect may answer. */
const NAVIGATIONS = ['pages', 'accounts'] as const;
/** Requests of people with a session that no redirect can answer. */
const OTHERS = ['scripts', 'posts', 'streams', 'upgrades'] as const;
/** Flows that read a session of each request. */
export const SESSION_FLOWS = [...NAVIGATIONS, ...OTHERS] as const;

/** What is to be expected of all flows that read a session. */
export function ofSessions(...kinds: readonly Kind[]): Expected {
  return Object.fromEntries(SESSION_FLOWS.map((name) => [name, kinds]));
}

/** What is to be expected of people who have no session, or may have one. */
export function withoutSession(...kinds: readonly Kind[]): Expected {
  return {
    ...Object.fromEntries(NAVIGATIONS.map((name) => [name, ['sent to log in', ...kinds]])),
    ...Object.fromEntries(OTHERS.map((name) => [name, ['told to log in', ...kinds]])),
  };
}

let serial = 0;

/** All of them, about 130 requests a second, or so many times that: pages, scripts, posts, streams, WebSockets, logins, tokens, public pages. */
export function mixedFlows(world: Site, times = 1): readonly Flow[] {
  const flow = (name: string, perSecond: number, send: () => Promise<Kind>): Flow => ({
    name,
    perSecond: perSecond * times,
    usual: ['served'],
    send,
  });
  const someone = (): Person => world.people[serial++ % world.people.length]!;
  return [
    flow('pages', 25, () => page(world, someone())),
    flow('scripts', 20, () => get(world, someone(), { path: '/private/data', headers: SCRIPT })),
    flow('posts', 15, () => post(world, someone())),
    flow('accounts', 10, () => get(world, someone(), { path: '/account/page', headers: NAVIGATION })),
    flow('streams', 4, () => stream(world, someone())),
    flow('upgrades', 3, () => upgrade(world, someone())),
    { ...messages(world), perSecond: 15 * times },
    flow('logins', 4, () => login(world)),
    { ...flow('tokens', 15, () => token(world)), usual: ['served', 'forbidden'] },
    flow('public', 15, () => open(world)),
  ];
}

interface Body {
  readonly who?: unknown;
  readonly asked?: unknown;
  readonly body?: unknown;
  readonly echo?: unknown;
  readonly number?: unknown;
}

/** True for a JSON text with these members. */
function has(text: string, wanted: Body): boolean {
  const got = JSON.parse(text) as Body;
  return Object.entries(wanted).every(([name, value]) => got[name as keyof Body] === value);
}

/** Whoever was with a gateway when it was killed is counted apart. */
async function reach(world: Site, send: (next: () => string) => Promise<Kind>): Promise<Kind> {
  let last: ReturnType<Site['next']> | undefined;
  try {
    return await send(() => (last = world.next()).url);
  } catch (error) {
    if (last && !world.isUp(last)) return 'cut off';
    throw error;
  }
}

interface Get extends Ask {
  readonly path: string;
  readonly node?: ReturnType<Site['next']> | undefined;
}

function get(world: Site, person: Person, { path, headers, node }: Get): Promise<Kind> {
  const asked = `${path}?${serial++}`;
  return reach(world, async (next) => {
    const answered = await person.ask((node?.url ?? next()) + asked, { headers });
    return kindOf(answered, (text) => has(text, { who: person.email, asked: `GET ${asked}` }));
  });
}

function post(world: Site, person: Person): Promise<Kind> {
  const body = `body ${serial++}`;
  return reach(world, async (next) => {
    const answered = await person.ask(`${next()}/private/form`, { method: 'POST', headers: NAVIGATION, body });
    const kind = kindOf(answered, (text) => has(text, { who: person.email, body }));
    const times = world.upstream.posted.get(body) ?? 0;
    return times === (kind === 'served' ? 1 : 0) ? kind : `${kind}, yet its body came ${times} times`;
  });
}

function stream(world: Site, person: Person): Promise<Kind> {
  return reach(world, async (next) => {
    const answered = await person.ask(`${next()}/private/events`, {
      headers: { ...SCRIPT, accept: 'text/event-stream' },
    });
    return kindOf(answered, (text) => {
      const events = text.split('\n\n').filter(Boolean);
      const isWhole = events.length === EVENTS && answered.headers['content-type'] === 'text/event-stream';
      return isWhole && events.every((each, number) => has(each.slice('data: '.length), { who: person.email, number }));
    });
  });
}

async function say(person: Person, socket: Socket): Promise<Kind> {
  const echo = `message ${serial++}`;
  const text = await socket.say(echo).catch((error: { code?: string }) => {
    if (error.code === 'GOING_AWAY') return undefined;
    throw error;
  });
  if (text === undefined) return 'told to reconnect';
  return has(text, { who: person.email, echo }) ? 'served' : `another answer: ${text}`;
}

function upgrade(world: Site, person: Person): Promise<Kind> {
  return reach(world, async (next) => {
    const socket = await openSocket(`${next()}/private/socket`, { cookie: person.cookies() });
    if (!('say' in socket)) return kindOf(socket, () => false);
    try {
      return await say(person, socket);
    } finally {
      socket.close();
    }
  });
}

/** Messages over WebSockets that stay open, one for each gateway. They are closed when the flow is asked to. */
function messages(world: Site): Omit<Flow, 'perSecond'> {
  const sockets = new Map<object, ReturnType<typeof openSocket>>();
  // By turns of its own: each gateway has a socket after as many messages as there are gateways.
  let turn = 0;
  return {
    name: 'messages',
    usual: ['served'],
    async send() {
      const up = world.nodes.filter((each) => world.isUp(each));
      const node = up[turn++ % up.length]!;
      const person = world.people[world.nodes.indexOf(node)]!;
      try {
        const known = await sockets.get(node);
        if (!known || !('say' in known) || !known.isOpen)
          sockets.set(node, openSocket(`${node.url}/private/socket`, { cookie: person.cookies() }));
        const socket = (await sockets.get(node))!;
        return 'say' in socket ? await say(person, socket) : kindOf(socket, () => false);
      } catch (error) {
        sockets.delete(node);
        if (!world.isUp(node)) return 'cut off';
        throw error;
      }
    },
    async stop() {
      for (const each of sockets.values()) {
        const socket = await each.catch(() => undefined);
        if (socket && 'say' in socket) socket.close();
      }
    },
  };
}

/** Pages of someone, sent like any flow. */
export function pagesOf(world: Site, who: () => Person, perSecond = 5): Flow {
  const send = (): Promise<Kind> => page(world, who());
  return { name: 'pages of one', perSecond, usual: ['served'], send };
}

/** A page of someone with a session, from the gateway whose turn it is, or from this one. */
export function page(world: Site, person: Person, node?: ReturnType<Site['next']>): Promise<Kind> {
  return get(world, person, { path: '/private/page', headers: NAVIGATION, node });
}

/** How someone's page is answered at each gateway. */
export function pageEverywhere(world: Site, person: Person): Promise<Kind[]> {
  return Promise.all(world.nodes.map((node) => page(world, person, node)));
}

/** True when the sessions of all people work at every gateway. */
export async function allServed(world: Site): Promise<boolean> {
  const kinds = await Promise.all(world.people.map((person) => pageEverywhere(world, person)));
  return kinds.flat().every((kind) => kind === 'served');
}

/** One of the ways to use a session. */
export function anyUse(world: Site, person: Person, number: number): Promise<Kind> {
  if (number % 3 === 0) return page(world, person);
  if (number % 3 === 1) return get(world, person, { path: '/private/data', headers: SCRIPT });
  return post(world, person);
}

/** Someone new logs in. */
export function login(world: Site, person: Person = newcomer()): Promise<Kind> {
  return reach(world, async (next) => {
    const answered = await person.visit('/private/page', next);
    return kindOf(answered, (text) => has(text, { who: person.email, asked: 'GET /private/page' }));
  });
}

function token(world: Site): Promise<Kind> {
  const email = serial++ % 3 === 0 ? 'user@example.com' : ADMIN;
  return reach(world, async (next) => {
    const answered = await world.people[0]!.ask(`${next()}/token`, { headers: bearer(world, email) });
    const kind = kindOf(answered, (text) => has(text, { who: ADMIN, asked: 'GET /token' }));
    const isWrong = kind === (email === ADMIN ? 'forbidden' : 'served');
    return isWrong ? `${kind}, which is wrong for ${email}` : kind;
  });
}

function open(world: Site): Promise<Kind> {
  const asked = `/public?${serial++}`;
  return reach(world, async (next) => {
    const answered = await world.people[0]!.ask(next() + asked);
    return kindOf(answered, (text) => has(text, { who: null, asked: `GET ${asked}` }));
  });
}

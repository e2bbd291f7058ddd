import { request } from 'undici';
import { createConnections } from './connections.ts';
import { WHO_HEADER } from './provider.ts';
import { APP } from './resources.ts';

/** One answer; no redirect was followed. */
export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

export interface Ask {
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Someone with a browser: one set of cookies for the application, whichever gateway is asked. */
export interface Person {
  readonly email: string;
  /** Asks a gateway, or the provider; rejects when no answer came. */
  ask(url: string, ask?: Ask): Promise<Answered>;
  /** Opens a page and follows redirects, each at the gateway that `next` names; gives the last answer. */
  visit(path: string, next: () => string): Promise<Answered>;
  /** Logs in up to the address that the provider sends the browser back to. */
  toCallback(path: string, next: () => string): Promise<string>;
  /** The `cookie` header. */
  cookies(): string;
}

export const NAVIGATION = { 'sec-fetch-mode': 'navigate', accept: 'text/html' };
export const SCRIPT = { 'x-requested-with': 'XMLHttpRequest', accept: 'application/json' };
/** In place of a status. */
export const NO_RESPONSE = 0;
const MAX_HOPS = 12;

/** Connections of all people. */
const connections = createConnections();

export function createPerson(email: string): Person {
  const jar = new Map<string, string>();
  const cookies = (): string => [...jar].map((pair) => pair.join('=')).join('; ');

  function keep(line: string): void {
    const [pair = '', ...attributes] = line.split(';');
    const [name, value] = [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)];
    const ended = attributes.some((each) => /^\s*(?:max-age=0|expires=.*\b1970\b)/i.test(each));
    if (ended || value === '') jar.delete(name);
    else jar.set(name, value);
  }

  async function ask(url: string, { method = 'GET', headers = NAVIGATION, body }: Ask = {}): Promise<Answered> {
    const answer = await request(url, {
      dispatcher: connections.current(),
      method,
      headers: { ...headers, host: APP, ...(jar.size > 0 && { cookie: cookies() }) },
      ...(body !== undefined && { body }),
    });
    for (const line of [answer.headers['set-cookie'] ?? []].flat()) keep(line);
    return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() };
  }

  /** At the provider no form has to be filled in. Where nobody answers the browser says so itself. */
  async function atProvider(url: string): Promise<Answered> {
    try {
      const { statusCode, headers, body } = await request(url, {
        dispatcher: connections.current(),
        headers: { [WHO_HEADER]: email },
      });
      return { status: statusCode, headers, text: await body.text() };
    } catch {
      return { status: NO_RESPONSE, headers: {}, text: '' };
    }
  }

  async function visit(path: string, next: () => string): Promise<Answered> {
    let answered = await ask(next() + path);
    for (let hop = 0; hop < MAX_HOPS; hop++) {
      const { location } = answered.headers;
      if (typeof location !== 'string') return answered;
      const { host, pathname, search } = new URL(location);
      answered = host === APP ? await ask(next() + pathname + search) : await atProvider(location);
    }
    throw new Error(`redirected ${MAX_HOPS} times`);
  }

  async function toCallback(path: string, next: () => string): Promise<string> {
    const { headers } = await ask(next() + path);
    const answered = await atProvider(String(headers.location));
    const { pathname, search } = new URL(String(answered.headers.location));
    return pathname + search;
  }

  return { email, ask, visit, toCallback, cookies };
}

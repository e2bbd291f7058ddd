import { Agent, request } from 'undici';

/** One answer, no redirect followed. */
export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

const NAVIGATION = { 'sec-fetch-mode': 'navigate', accept: 'text/html' };
const MAX_HOPS = 20;

/** Someone with a browser, as far as the demo needs one: cookies by host, redirects, the login form. */
export class Person {
  readonly email: string;
  readonly #cookies = new Map<string, Map<string, string>>();
  readonly #agent = new Agent({ connect: { rejectUnauthorized: false } });

  constructor(email: string) {
    this.email = email;
  }

  /** Opens an address. `form` is posted. Rejects when no answer came. */
  async send(url: string, form?: Readonly<Record<string, string>>): Promise<Answered> {
    const { host } = new URL(url);
    const jar = this.#cookies.get(host) ?? new Map<string, string>();
    this.#cookies.set(host, jar);
    const { statusCode, headers, body } = await request(url, {
      dispatcher: this.#agent,
      method: form ? 'POST' : 'GET',
      headers: {
        ...NAVIGATION,
        cookie: [...jar].map((pair) => pair.join('=')).join('; '),
        ...(form && { 'content-type': 'application/x-www-form-urlencoded' }),
      },
      ...(form && { body: new URLSearchParams(form).toString() }),
    });
    for (const line of [headers['set-cookie'] ?? []].flat()) {
      const [pair = '', ...attributes] = line.split(';');
      const [name, value] = [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)];
      const ended = attributes.some((each) => /^\s*(?:max-age=0|expires=.*\b1970\b)/i.test(each));
      if (ended || value === '') jar.delete(name);
      else jar.set(name, value);
    }
    return { status: statusCode, headers, text: await body.text() };
  }

  /** Opens an address, follows redirects, and logs in where a form asks for it. */
  async visit(url: string): Promise<Answered> {
    let at = url;
    let answered = await this.send(at);
    for (let hop = 0; hop < MAX_HOPS; hop++) {
      const { location } = answered.headers;
      const action = /<form method="post" action="(\/interaction\/[^"]+)"/.exec(answered.text)?.[1];
      if (typeof location !== 'string' && action === undefined) return answered;
      const login = { email: this.email, password: this.email.split('@', 1)[0]! };
      at = new URL(typeof location === 'string' ? location : action!, at).href;
      answered = await (typeof location === 'string' ? this.send(at) : this.send(at, login));
    }
    throw new Error(`too many redirects to ${at}`);
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }
}

import { request } from 'undici';

/** A browser as far as logins need one: cookies by host, domain and path, redirects, forms. */
export interface Browser {
  /** One request, no redirect followed. */
  send(url: string, init?: RequestInit): Promise<Response>;
  /** Follows redirects, and logs in where the provider's form asks; gives the last answer and its address. */
  visit(url: string, init?: RequestInit & { stopAt?: (url: string) => boolean }): Promise<Visited>;
  readonly jar: Map<string, Cookie>;
  cookie(name: string): string | undefined;
}

export interface Visited {
  readonly url: string;
  readonly status: number;
  readonly body: string;
  readonly headers: Headers;
  readonly hops: readonly string[];
}

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly host: string;
  readonly path: string;
  readonly ends: number;
}

const NAVIGATION = {
  'sec-fetch-site': 'none',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
  accept: 'text/html',
};

export function createBrowser(login = 'admin@example.com'): Browser {
  const jar = new Map<string, Cookie>();

  function keep(url: URL, header: string): void {
    const [pair = '', ...attributes] = header.split(';').map((part) => part.trim());
    const name = pair.slice(0, pair.indexOf('='));
    const attribute = (key: string): string | undefined =>
      attributes.find((each) => each.toLowerCase().startsWith(`${key}=`))?.slice(key.length + 1);
    const path = attribute('path') ?? '/';
    const maxAge = attribute('max-age');
    const ends =
      maxAge !== undefined ? Date.now() + Number(maxAge) * 1000 : Date.parse(attribute('expires') ?? '') || Infinity;
    const key = `${url.host}|${path}|${name}`;
    if (ends <= Date.now()) jar.delete(key);
    else jar.set(key, { name, value: pair.slice(pair.indexOf('=') + 1), host: url.host, path, ends });
  }

  function cookieHeader(url: URL): string {
    return [...jar.values()]
      .filter((each) => each.host === url.host && url.pathname.startsWith(each.path) && each.ends > Date.now())
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ');
  }

  async function send(url: string, init: RequestInit = {}): Promise<Response> {
    const at = new URL(url);
    const headers = new Headers({ ...NAVIGATION, ...(init.headers as Record<string, string>) });
    const cookies = cookieHeader(at);
    if (cookies && !headers.has('cookie')) headers.set('cookie', cookies);
    const { method = 'GET' } = init;
    const body = init.body instanceof URLSearchParams ? init.body.toString() : (init.body as string | undefined);
    if (init.body instanceof URLSearchParams) headers.set('content-type', 'application/x-www-form-urlencoded');
    const answer = await request(url, { method: method as 'GET', headers: Object.fromEntries(headers), body });
    const text = await answer.body.text();
    const response = new Response(text === '' ? null : text, { status: answer.statusCode });
    for (const [name, value] of Object.entries(answer.headers)) {
      for (const each of [value ?? []].flat()) response.headers.append(name, each);
    }
    for (const header of response.headers.getSetCookie()) keep(at, header);
    return response;
  }

  async function visit(url: string, { stopAt, ...init }: Parameters<Browser['visit']>[1] = {}): Promise<Visited> {
    const hops: string[] = [];
    let at = url;
    let response = await send(at, init);
    for (let i = 0; i < 20; i++) {
      hops.push(at);
      const location = response.headers.get('location');
      const body = location ? '' : await response.text();
      const form = /<form[^>]*action="([^"]+)"[^>]*method="post"/.exec(body)?.[1];
      const isLogin = form !== undefined && body.includes('name="prompt"');
      if (!location && !isLogin) return { url: at, status: response.status, body, headers: response.headers, hops };
      if (location) {
        at = new URL(location, at).href;
        if (stopAt?.(at)) return { url: at, status: response.status, body, headers: response.headers, hops };
        response = await send(at);
        continue;
      }
      at = new URL(form!, at).href;
      const prompt = /name="prompt" value="(\w+)"/.exec(body)?.[1] ?? '';
      response = await send(at, { method: 'POST', body: new URLSearchParams({ prompt, login, password: 'x' }) });
    }
    throw new Error(`too many redirects: ${hops.join(' → ')}`);
  }

  return {
    send,
    visit,
    jar,
    cookie: (name) => [...jar.values()].find((each) => each.name === name)?.value,
  };
}

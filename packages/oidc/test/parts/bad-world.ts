import { createContext, createLoggers, type Context } from '@edge-gateway/core';
import { oidc, type OidcOptions } from '../../src/index.ts';
import { startBadProvider, type BadProvider } from './bad-provider.ts';
import { createBrowser, type Browser, type Visited } from './browser.ts';
import { startSite, type Site } from './site.ts';

/** A site whose provider does what a test tells it to. */
export interface BadWorld {
  readonly site: Site;
  readonly idp: BadProvider;
  /** Added to the clock of the site. */
  shift: number;
  /** Lets the clock of the site stand still, save for `shift`, until the next `protect`. */
  stopClock(): void;
  /** Lines that were logged since the last `protect`. */
  readonly log: Record<string, unknown>[];
  /** Puts a login, with nothing remembered, before the site. */
  protect(more?: Partial<OidcOptions>, context?: Partial<Context>): void;
  visit(browser?: Browser): Promise<Visited>;
  /** A browser that stands before the callback, and the address of that. */
  atCallback(path?: string): Promise<{ readonly browser: Browser; readonly url: string }>;
  close(): Promise<void>;
}

export async function startBadWorld(): Promise<BadWorld> {
  const site = await startSite();
  const idp = await startBadProvider();
  const log: Record<string, unknown>[] = [];
  let stoppedAt: number | undefined;
  const destination = { write: (line: string) => void log.push(JSON.parse(line) as Record<string, unknown>) };
  const world: BadWorld = {
    site,
    idp,
    shift: 0,
    log,
    stopClock: () => void (stoppedAt = Date.now()),
    protect(more = {}, context = {}) {
      log.length = 0;
      stoppedAt = undefined;
      const options: OidcOptions = {
        issuerUrl: idp.issuer,
        clientId: 'web',
        clientSecret: 'a-secret-of-more-than-thirty-two-characters',
        appUrl: site.url,
        callbackPath: '/callback',
        logoutPath: '/logout',
        session: { redis: {}, cookieOptions: { notSecure: true } },
        ...more,
      };
      const now = (): number => (stoppedAt ?? Date.now()) + world.shift;
      site.use(oidc(options, createContext({ now, log: createLoggers({ destination }), ...context })));
    },
    visit: (browser = createBrowser()) => browser.visit(`${site.url}/a`),
    async atCallback(path = '/a') {
      const browser = createBrowser();
      const stopAt = (url: string): boolean => url.includes('/callback?');
      const { url } = await browser.visit(`${site.url}${path}`, { stopAt });
      return { browser, url };
    },
    async close() {
      await idp.close();
      await site.close();
    },
  };
  return world;
}

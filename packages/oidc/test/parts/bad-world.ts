import { createContext, createLoggers, type Context } from '@edge-gateway/core';
import { oidc, type OidcOptions } from '../../src/index.ts';
import { startBadProvider, type BadProvider } from './bad-provider.ts';
import { createBrowser, type Browser, type Visited } from './browser.ts';
import { startSite, type Site } from './site.ts';

/** A site whose provider behaves as a test requires. */
export interface BadWorld {
  readonly site: Site;
  readonly idp: BadProvider;
  /** Added to the clock of the site. */
  shift: number;
  /** Lets the clock of the site stand still, save for `shift`, until the next `protect`. */
  stopClock(): void;
  /** Lines that were logged since the last `protect`. */
  readonly log: Record<string, unknown>[];
  /** Puts a login without any state in front of the site. */
  protect(more?: Partial<OidcOptions>, context?: Partial<Context>): void;
  visit(browser?: Browser): Promise<Visited>;
  /** A browser that is about to request the callback, and the URL of that. */
  atCallback(path?: string): Promise<{ readonly browser: Browser; readonly url: string }>;
  close(): Promise<void>;
}

/** Starts a {@link BadWorld} for a suite, and resets clock and provider before each of its tests. */
export function useBadWorld(): BadWorld {
  const world = {} as BadWorld;
  before(() => startBadWorld(world));
  after(() => world.close?.());
  beforeEach(() => {
    world.shift = 0;
    world.idp.reset();
  });
  return world;
}

/** Starts a {@link BadWorld}, in `world` if given. */
export async function startBadWorld(world = {} as BadWorld): Promise<BadWorld> {
  const site = await startSite();
  const idp = await startBadProvider();
  const log: Record<string, unknown>[] = [];
  let stoppedAt: number | undefined;
  const destination = { write: (line: string) => void log.push(JSON.parse(line) as Record<string, unknown>) };
  const parts: BadWorld = {
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
  return Object.assign(world, parts);
}

import { request as httpRequest } from 'node:http';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createContext, factsOf, type Concern, type Route, type SecretValue, type Snapshot } from '@edge-gateway/core';
import { createRouter, type Router, type RouterOptions } from '../src/router.ts';
import {
  directOf,
  echo,
  endpointOf,
  hostOf,
  LISTENER,
  routeOf,
  snapshotOf,
  start,
  stopAll,
  upstreamOf,
} from './snapshots.ts';

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

interface Asked {
  readonly method?: string;
  readonly headers?: Record<string, string | string[]>;
  readonly body?: string;
}

async function ask(port: number, path: string, { method = 'GET', headers = {}, body }: Asked = {}): Promise<Answer> {
  return await new Promise((resolve, reject) => {
    const req = httpRequest({ port, host: '127.0.0.1', path, method, headers, agent: false }, (res) => {
      let text = '';
      res.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      res.on('end', () => resolve({ status: res.statusCode!, headers: res.headers, body: text }));
    });
    req.on('error', reject).end(body);
  });
}

async function serve(snapshot: Snapshot, options: RouterOptions = {}): Promise<{ port: number; router: Router }> {
  const router = createRouter(options);
  routers.push(router);
  router.apply(snapshot);
  const handler = router.listener(LISTENER);
  const { port } = await start((req, res) => handler(req, res, () => res.destroy()));
  return { port, router };
}

async function backend(): Promise<ReturnType<typeof upstreamOf>> {
  const { port } = await start(echo);
  return upstreamOf([endpointOf(port)]);
}

const routers: Router[] = [];

describe('router', () => {
  afterEach(async () => {
    await Promise.all(routers.splice(0).map((router) => router.close()));
    await stopAll();
  });

  it('forwards to the upstream of the first route that fits', async () => {
    const { port } = await serve(snapshotOf([hostOf([routeOf()])], [await backend()]));
    const { status, body } = await ask(port, '/a?x=1', { headers: { host: 'a.example' } });
    expect(status).to.equal(200);
    expect(JSON.parse(body)).to.include({ method: 'GET', url: '/a?x=1' });
    expect(JSON.parse(body).headers).to.include({
      host: 'a.example',
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'http',
      'x-envoy-expected-rq-timeout-ms': '15000',
    });
    expect(JSON.parse(body).headers['x-request-id']).to.match(/^[0-9a-f-]{36}$/);
  });

  it('sends the duration of the upstream, and its own name as server', async () => {
    const { port } = await serve(snapshotOf([hostOf([routeOf()])], [await backend()]));
    const { headers } = await ask(port, '/');
    expect(headers['server']).to.equal('envoy');
    expect(headers['x-envoy-upstream-service-time']).to.match(/^\d+$/);
  });

  it('counts the time from sending to the response head as that of the upstream', async () => {
    const upstreamMs = 120;
    const concernMs = 400;
    const slow: Concern = {
      name: 'slow',
      option: 'rbac',
      stage: 'rbac',
      compile: () => (_req, _res, next) => void setTimeout(next, concernMs),
    };
    const { port: target } = await start((_req, res) => {
      setTimeout(() => {
        res.write('head');
        setTimeout(() => res.end(), concernMs);
      }, upstreamMs);
    });
    const host = hostOf([routeOf({ options: { rbac: {} } })]);
    const { port } = await serve(snapshotOf([host], [upstreamOf([endpointOf(target)])]), { concerns: [slow] });
    const { headers } = await ask(port, '/');
    expect(Number(headers['x-envoy-upstream-service-time'])).to.be.within(upstreamMs - 2, upstreamMs + concernMs - 20);
  });

  it('responds with 404 without body when no virtual host or no route matches', async () => {
    const routes = [directOf('a', { matchers: [{ prefix: '/a' }] })];
    const { port } = await serve(snapshotOf([hostOf(routes, { domains: ['a.example'] })]));
    for (const [host, path] of [
      ['a.example', '/b'],
      ['b.example', '/a'],
    ] as const) {
      const { status, body, headers } = await ask(port, path, { headers: { host } });
      expect([status, body, headers['content-length']]).to.deep.equal([404, '', '0']);
    }
  });

  it('responds with 404 for a listener that is not in the snapshot', async () => {
    const router = createRouter();
    routers.push(router);
    const handler = router.listener('other');
    const { port } = await start((req, res) => handler(req, res, () => res.destroy()));
    expect((await ask(port, '/')).status).to.equal(404);
  });

  it('sends direct responses, without body to HEAD', async () => {
    const { port } = await serve(snapshotOf([hostOf([directOf('hello')])]));
    const get = await ask(port, '/');
    expect([get.status, get.body, get.headers['content-type']]).to.deep.equal([200, 'hello', 'text/plain']);
    const head = await ask(port, '/', { method: 'HEAD' });
    expect([head.status, head.body, head.headers['content-length']]).to.deep.equal([200, '', '5']);
  });

  it('sends a direct response with the type of its route', async () => {
    const headerManipulation = {
      responseHeadersToAdd: [{ header: { key: 'content-type', value: 'application/json' } }],
    };
    const { port } = await serve(snapshotOf([hostOf([directOf('{}', { options: { headerManipulation } })])]));
    expect((await ask(port, '/')).headers['content-type']).to.equal('application/json');
  });

  it('matches, authorizes, logs and forwards the path without its dot segments', async () => {
    const judged: string[] = [];
    const judge: Concern<object> = {
      name: 'judge',
      option: 'judge',
      stage: 'rbac',
      compile: () => (req, _res, next) => {
        judged.push(factsOf(req).path);
        next();
      },
    };
    const options = { judge: {} } as Route['options'];
    const routes = [routeOf({ matchers: [{ prefix: '/admin' }], options }), directOf('open')];
    const { port } = await serve(snapshotOf([hostOf(routes)], [await backend()]), { concerns: [judge as Concern] });
    for (const path of ['/open/../admin/x?y=1', '/open/%2e%2e/admin/x?y=1', '/%2E%2e/admin/./x?y=1']) {
      expect(JSON.parse((await ask(port, path)).body).url, path).to.equal('/admin/x?y=1');
    }
    expect(judged).to.deep.equal(Array(3).fill('/admin/x?y=1'));
    expect((await ask(port, '/admin/../x')).body).to.equal('open');
  });

  it('matches a path that begins with two slashes unchanged, and never redirects it to another host', async () => {
    const routes = [directOf('named', { matchers: [{ prefix: '/evil' }] }), directOf('any')];
    const toHttps = routeOf({ action: { type: 'redirect', redirect: { httpsRedirect: true } } });
    const secure = hostOf([toHttps], { name: 'secure', domains: ['secure.example'] });
    const { port } = await serve(snapshotOf([hostOf(routes), secure]));
    expect((await ask(port, '//evil.example/x')).body).to.equal('any');
    const { headers } = await ask(port, '//evil.example/x', { headers: { host: 'secure.example' } });
    expect(headers['location']).to.equal('https://secure.example//evil.example/x');
  });

  it('sends a request once, although a concern continues twice', async () => {
    let served = 0;
    const { port: to } = await start((_req, res) => {
      served++;
      res.end('ok');
    });
    let calls = 0;
    const twice: Concern<object> = {
      name: 'twice',
      option: 'twice',
      stage: 'rbac',
      compile: () => (_req, _res, next) => {
        next();
        next();
        next(new Error('late'));
      },
    };
    const after: Concern<object> = {
      name: 'after',
      option: 'after',
      stage: 'rateLimit',
      compile: () => (_req, _res, next) => {
        calls++;
        setTimeout(next, 5);
      },
    };
    const options = { twice: {}, after: {} } as Route['options'];
    const snapshot = snapshotOf([hostOf([routeOf({ options })])], [upstreamOf([endpointOf(to)])]);
    const { port } = await serve(snapshot, { concerns: [twice as Concern, after as Concern] });
    expect(await ask(port, '/')).to.include({ status: 200, body: 'ok' });
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect([calls, served]).to.deep.equal([1, 1]);
  });

  it('logs a client that disconnects while a concern runs', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'router-'));
    const path = join(directory, 'log');
    let asked = (): void => {};
    const isAsked = new Promise<void>((resolve) => (asked = resolve));
    const never: Concern<object> = { name: 'never', option: 'never', stage: 'rbac', compile: () => () => asked() };
    const fileSink = { path, stringFormat: '%RESPONSE_CODE% %RESPONSE_FLAGS%\n' };
    const snapshot = snapshotOf([hostOf([routeOf({ options: { never: {} } as Route['options'] })])], [], {
      options: { accessLoggingService: { accessLog: [{ fileSink }] } },
    });
    const { port, router } = await serve(snapshot, { concerns: [never as Concern] });
    const req = httpRequest({ port, host: '127.0.0.1', agent: false }).on('error', () => {});
    req.end();
    await isAsked;
    req.destroy();
    await new Promise((resolve) => setTimeout(resolve, 50));
    await router.close();
    expect(await readFile(path, 'utf8')).to.equal('0 DC\n');
    await rm(directory, { recursive: true });
  });

  it('rejects hidden dot segments', async () => {
    const { port } = await serve(snapshotOf([hostOf([directOf('a')])]));
    const hidden = await ask(port, '/a/%252e%252e/b');
    expect([hidden.status, JSON.parse(hidden.body).code]).to.deep.equal([400, 'ERR_ROUTING_DOT_SEGMENT']);
    expect(JSON.parse(hidden.body).requestId).to.be.a('string');
  });

  it('responds with 503 without an endpoint and for a missing cluster', async () => {
    const routes = [routeOf({ matchers: [{ prefix: '/none' }], to: 'none_gw-system' }), routeOf()];
    const { port } = await serve(snapshotOf([hostOf(routes)], [upstreamOf([])]));
    expect(await ask(port, '/')).to.include({ status: 503, body: 'no healthy upstream' });
    expect(await ask(port, '/none')).to.include({ status: 503, body: '' });
  });

  it('responds with the replacement for a broken share', async () => {
    const broken = { status: 404, body: 'gone', reason: 'missing' };
    const destinations = [{ upstream: 'x', weight: 1, options: {}, broken }];
    const { port } = await serve(snapshotOf([hostOf([routeOf({ action: { type: 'forward', destinations } })])]));
    expect(await ask(port, '/')).to.include({ status: 404, body: 'gone' });
  });

  it('responds with 500 on a route that cannot be compiled and serves its neighbours', async () => {
    const routes = [
      directOf('bad', {
        matchers: [{ prefix: '/bad' }],
        options: { headerManipulation: { requestHeadersToRemove: ['a b'] } },
      }),
      directOf('worse', { matchers: [{ regex: '/worse/(' }] }),
      directOf('good'),
    ];
    const { port } = await serve(snapshotOf([hostOf(routes)]));
    const bad = await ask(port, '/bad');
    expect([bad.status, JSON.parse(bad.body).code]).to.deep.equal([500, 'ERR_ROUTING_ROUTE']);
    expect((await ask(port, '/worse/x')).status).to.equal(500);
    expect(await ask(port, '/good')).to.include({ status: 200, body: 'good' });
  });

  it('responds with 500 for a matcher that cannot be compiled, and serves those before and after it', async () => {
    const matchers = [{ exact: '/a' }, { regex: '/bad/(' }, { exact: '/b' }];
    for (const order of [matchers, matchers.toReversed()]) {
      const { port } = await serve(snapshotOf([hostOf([directOf('some', { matchers: order })])]));
      expect((await ask(port, '/bad/x')).status).to.equal(500);
      for (const path of ['/a', '/b']) expect(await ask(port, path)).to.include({ status: 200, body: 'some' });
    }
  });

  it('redirects as the route declares', async () => {
    const redirect = { httpsRedirect: true, hostRedirect: 'b.example', responseCode: 'FOUND' } as const;
    const { port } = await serve(snapshotOf([hostOf([routeOf({ action: { type: 'redirect', redirect } })])]));
    const { status, headers, body } = await ask(port, '/x?y=1');
    expect([status, headers['location'], body]).to.deep.equal([302, 'https://b.example/x?y=1', '']);
  });

  it('rewrites prefix and host, and sends the original values upstream', async () => {
    const options = { prefixRewrite: '/v1', hostRewrite: 'up.example' };
    const routes = [routeOf({ matchers: [{ prefix: '/api' }], options })];
    const { port } = await serve(snapshotOf([hostOf(routes)], [await backend()]));
    const { body } = await ask(port, '/api/pets?x=/api', { headers: { host: 'a.example' } });
    const seen = JSON.parse(body);
    expect(seen.url).to.equal('/v1/pets?x=/api');
    expect(seen.headers).to.include({
      host: 'up.example',
      'x-forwarded-host': 'a.example',
      'x-envoy-original-path': '/api/pets?x=/api',
    });
  });

  it('rejects a path that the rewrite would turn into a dot segment', async () => {
    const routes = [routeOf({ matchers: [{ prefix: '/api' }], options: { prefixRewrite: '/v1/' } })];
    const { port } = await serve(snapshotOf([hostOf(routes)], [await backend()]));
    const { status, body } = await ask(port, '/api../admin');
    expect([status, JSON.parse(body).code]).to.deep.equal([400, 'ERR_ROUTING_DOT_SEGMENT']);
  });

  it('removes hop-by-hop and forged headers of the client', async () => {
    const { port } = await serve(snapshotOf([hostOf([routeOf()])], [await backend()]));
    const { body } = await ask(port, '/', {
      headers: {
        connection: 'x-private, x-request-id, close',
        'x-private': '1',
        'proxy-authorization': 'secret',
        te: 'gzip',
        'x-envoy-expected-rq-timeout-ms': '1',
        x_forwarded_for: '6.6.6.6',
        'x-forwarded-for': '1.1.1.1',
        'x-forwarded-proto': 'https',
        'x-forwarded-client-cert': 'forged',
        'x-request-id': 'mine',
        'x-kept': '1',
      },
    });
    const { headers } = JSON.parse(body);
    expect(headers).to.include({
      'x-forwarded-proto': 'http',
      'x-kept': '1',
      'x-envoy-expected-rq-timeout-ms': '15000',
    });
    expect(headers).not.to.have.any.keys(
      'x-private',
      'proxy-authorization',
      'te',
      'x_forwarded_for',
      'x-forwarded-client-cert',
    );
    expect(headers['x-request-id']).not.to.equal('mine');
    expect(headers['x-forwarded-for']).to.match(/127\.0\.0\.1$/);
  });

  it('manipulates headers of requests and responses, the least specific level last', async () => {
    const level = (value: string) => ({
      headerManipulation: {
        requestHeadersToAdd: [{ header: { key: 'x-level', value }, append: false }],
        responseHeadersToAdd: [{ header: { key: 'x-answer', value: `${value} %RESPONSE_CODE%` } }],
        responseHeadersToRemove: ['content-type'],
      },
    });
    const destinations = [{ upstream: 'up_gw-system', weight: 1, options: level('destination') }];
    const host = hostOf([routeOf({ action: { type: 'forward', destinations }, options: level('route') })], {
      options: level('host'),
    });
    const { port, router } = await serve(snapshotOf([host], [await backend()]));
    const least = await ask(port, '/');
    expect(JSON.parse(least.body).headers['x-level']).to.equal('host');
    expect(least.headers['x-answer']).to.equal('destination 200, route 200, host 200');
    expect(least.headers['content-type']).to.equal(undefined);
    router.apply(snapshotOf([host], [await backend()], { routeOptions: { mostSpecificHeaderMutationsWins: true } }));
    expect(JSON.parse((await ask(port, '/')).body).headers['x-level']).to.equal('destination');
  });

  it('reads header secrets at compile time and again when they change', async () => {
    const secret = (value: string): SecretValue => ({
      type: 'Opaque',
      data: { 'x-key': Buffer.from(value).toString('base64') },
    });
    let current: SecretValue | undefined = secret('one');
    const context = createContext({ secrets: { get: () => current } });
    const headerSecretRef = { name: 's', namespace: 'n' };
    const options = { headerManipulation: { requestHeadersToAdd: [{ headerSecretRef }] } };
    const snapshot = snapshotOf([hostOf([routeOf({ options })])], [await backend()]);
    const { port, router } = await serve(snapshot, { context });
    expect(JSON.parse((await ask(port, '/')).body).headers['x-key']).to.equal('one');
    current = secret('two');
    router.apply(snapshot);
    expect(JSON.parse((await ask(port, '/')).body).headers['x-key']).to.equal('two');
    current = undefined;
    router.apply(snapshot);
    expect((await ask(port, '/')).status).to.equal(500);
  });

  it('runs concerns by stage, the most specific block of each, before the upstream is called', async () => {
    const order: string[] = [];
    const concern = (name: string, stage: Concern['stage']): Concern => ({
      name,
      option: name,
      stage,
      compile: (options) => (_req, _res, next) => {
        order.push(`${name} ${(options as { v: string }).v}`);
        next();
      },
    });
    const concerns = [concern('rbac', 'rbac'), concern('cors', 'cors')];
    const host = hostOf([routeOf({ options: { cors: { v: 'route' } } as never })], {
      options: { cors: { v: 'host' }, rbac: { v: 'host' } } as never,
    });
    const { port } = await serve(snapshotOf([host], [await backend()]), { concerns });
    await ask(port, '/');
    expect(order).to.deep.equal(['cors route', 'rbac host']);
  });

  it('fails closed when a concern cannot be compiled, throws, rejects or passes an error', async () => {
    const concern: Concern = {
      name: 'rbac',
      option: 'rbac',
      stage: 'rbac',
      compile: (options) => {
        const { how } = options as { how: string };
        if (how === 'compile') throw new Error('no');
        return (_req, _res, next) => {
          if (how === 'throw') throw new Error('secret detail');
          if (how === 'reject') return Promise.reject(new Error('secret detail')) as never;
          next(new Error('secret detail'));
        };
      },
    };
    const routes = ['compile', 'throw', 'reject', 'next'].map((how) =>
      routeOf({ matchers: [{ prefix: `/${how}` }], options: { rbac: { how } } as never }),
    );
    const { port } = await serve(snapshotOf([hostOf(routes)], [await backend()]), { concerns: [concern] });
    for (const how of ['compile', 'throw', 'reject', 'next']) {
      const { status, body } = await ask(port, `/${how}`);
      expect(status, how).to.equal(500);
      expect(body).not.to.contain('secret');
    }
  });

  it('does not step over a concern when the one before calls next twice', async () => {
    const twice: Concern = {
      name: 'cors',
      option: 'cors',
      stage: 'cors',
      compile: () => (_req, _res, next) => {
        next();
        next();
      },
    };
    const never: Concern = {
      name: 'rbac',
      option: 'rbac',
      stage: 'rbac',
      compile: () => (_req, res, next) => {
        setImmediate(() => next(undefined));
        if (res.headersSent) throw new Error('answered without being asked');
      },
    };
    const host = hostOf([routeOf()], { options: { cors: {}, rbac: {} } as never });
    const { port } = await serve(snapshotOf([host], [await backend()]), { concerns: [twice, never] });
    expect((await ask(port, '/')).status).to.equal(200);
  });

  it('closes handlers of a replaced virtual host after its last request', async () => {
    const events: string[] = [];
    let release = (): void => {};
    let enter = (): void => {};
    const entered = new Promise<void>((resolve) => (enter = resolve));
    const concern: Concern = {
      name: 'rbac',
      option: 'rbac',
      stage: 'rbac',
      compile: (options) => {
        const { v } = options as { v: number };
        const handler = (_req: unknown, _res: unknown, next: () => void): void => {
          release = () => {
            events.push(`pass ${v}`);
            next();
          };
          enter();
        };
        return Object.assign(handler, { close: () => void events.push(`close ${v}`) });
      },
    };
    const upstream = await backend();
    const versionOf = (v: number): Snapshot =>
      snapshotOf([hostOf([routeOf()], { options: { rbac: { v } } as never })], [upstream]);
    const { port, router } = await serve(versionOf(1), { concerns: [concern] });
    const pending = ask(port, '/');
    await entered;
    router.apply(versionOf(2));
    expect(events).to.deep.equal([]);
    release();
    expect((await pending).status).to.equal(200);
    expect(events).to.deep.equal(['pass 1', 'close 1']);
  });

  it('does not compile an unchanged virtual host again', async () => {
    let compiled = 0;
    const concern: Concern = {
      name: 'rbac',
      option: 'rbac',
      stage: 'rbac',
      compile: () => {
        compiled++;
        return undefined;
      },
    };
    const kept = hostOf([directOf('a')], { domains: ['a'], options: { rbac: {} } as never });
    const base = snapshotOf([kept]);
    const { router } = await serve(base, { concerns: [concern] });
    const [listener] = base.listeners;
    router.apply({
      ...base,
      listeners: [{ ...listener!, virtualHosts: [kept, hostOf([directOf('b')], { domains: ['b'] })] }],
    });
    expect(compiled).to.equal(1);
  });
});

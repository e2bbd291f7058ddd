import { request } from 'node:http';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { ActionKind, Concern, Route } from '@edge-gateway/core';
import { createRouter } from '../../src/router.ts';
import { hostOf, LISTENER, routeOf, snapshotOf, start, stopAll } from '../snapshots.ts';

/** Answers when it has read the body. */
const reading: ActionKind = {
  action: 'graphql',
  compile: () =>
    function read({ req, res, writeHead }) {
      const answer = (): void => {
        writeHead(200, ['content-length', '2']);
        res.end('ok');
      };
      if (req.readableEnded) answer();
      else req.resume().on('end', answer);
    },
};

/** Lets requests pass after their first bytes have come. */
const slow: Concern = {
  name: 'slow',
  option: 'slow',
  stage: 'rbac',
  compile: () => (_req, _res, next) => void setTimeout(next, 30),
};

describe('request to a responder', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'respond-'));
  });
  afterEach(async () => {
    await stopAll();
    await rm(directory, { recursive: true });
  });

  const BODIES: readonly (readonly [name: string, headers: Record<string, string>, chunks: string[], bytes: number])[] =
    [
      ['of a known length', { 'content-length': '5' }, ['hello'], 5],
      [
        'of a known length that comes in parts',
        { 'content-length': '200000' },
        Array(20).fill('x'.repeat(10_000)),
        200_000,
      ],
      ['in chunks', { 'transfer-encoding': 'chunked' }, ['abc', 'ä', 'defg'], 9],
      ['that is missing', {}, [], 0],
    ];
  for (const [name, headers, chunks, bytes] of BODIES) {
    for (const [when, options] of [
      ['at once', {}],
      ['after a concern', { slow: {} }],
    ] as const) {
      it(`logs the bytes of a body ${name}, read ${when}`, async () => {
        const path = join(directory, 'log');
        const router = createRouter({ actions: [reading], concerns: [slow] });
        const route = routeOf({
          action: { type: 'graphql', api: { name: 'a', namespace: 'gw-system' } } as never,
          options: options as Route['options'],
        });
        const fileSink = { path, stringFormat: '%BYTES_RECEIVED% %BYTES_SENT%\n' };
        router.apply(
          snapshotOf([hostOf([route])], [], { options: { accessLoggingService: { accessLog: [{ fileSink }] } } }),
        );
        const handler = router.listener(LISTENER);
        const { port } = await start((req, res) => handler(req, res, () => res.destroy()));
        await new Promise<void>((resolve, reject) => {
          const method = chunks.length === 0 ? 'GET' : 'POST';
          const req = request({ port, host: '127.0.0.1', method, headers, agent: false }, (res) =>
            res.resume().on('end', resolve),
          );
          req.on('error', reject);
          for (const chunk of chunks) req.write(chunk);
          req.end();
        });
        await router.close();
        expect(await readFile(path, 'utf8')).to.equal(`${bytes} 2\n`);
      });
    }
  }

  it('passes the action the retry policy of its route, or of the virtual host', async () => {
    const attempts: (number | undefined)[] = [];
    const counting: ActionKind = {
      action: 'graphql',
      compile: () =>
        function count({ res, writeHead, retries }) {
          attempts.push(retries?.numRetries);
          writeHead(200, ['content-length', '0']);
          res.end();
        },
    };
    const router = createRouter({ actions: [counting] });
    const action = { type: 'graphql', api: { name: 'a', namespace: 'gw-system' } } as never;
    const retries = (numRetries: number) => ({ retries: { retryOn: '5xx', numRetries } });
    const own = routeOf({ action, matchers: [{ prefix: '/own' }], options: retries(3) });
    const inherited = routeOf({ action, matchers: [{ prefix: '/' }] });
    router.apply(snapshotOf([hostOf([own, inherited], { options: retries(2) })]));
    const { port } = await start((req, res) => router(req, res, () => res.destroy()));
    for (const path of ['/own', '/']) await (await fetch(`http://127.0.0.1:${port}${path}`)).text();
    expect(attempts).to.deep.equal([3, 2]);
    await router.close();
  });

  it('logs the length of a body that a parser in front has read', async () => {
    const path = join(directory, 'log');
    const router = createRouter({ actions: [reading] });
    const route = routeOf({ action: { type: 'graphql', api: { name: 'a', namespace: 'gw-system' } } as never });
    const fileSink = { path, stringFormat: '%BYTES_RECEIVED%\n' };
    router.apply(
      snapshotOf([hostOf([route])], [], { options: { accessLoggingService: { accessLog: [{ fileSink }] } } }),
    );
    const { port } = await start((req, res) => {
      req.resume().on('end', () => setImmediate(() => router(req, res, () => res.destroy())));
    });
    await (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: 'hello' })).text();
    await router.close();
    expect(await readFile(path, 'utf8')).to.equal('5\n');
  });
});

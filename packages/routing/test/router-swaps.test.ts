import { Agent, request as httpRequest } from 'node:http';
import { expect } from 'chai';
import { createContext, type Concern, type Snapshot } from '@edge-gateway/core';
import { until } from '../../../test/parts/until.ts';
import { createRouter } from '../src/router.ts';
import { endpointOf, hostOf, LISTENER, routeOf, snapshotOf, start, stopAll, upstreamOf } from './snapshots.ts';

const SWAPS = 1_000;
const CLIENTS = 8;

/** Answers the version in the path once the body is read, in a later turn. */
async function versionBackend(): Promise<number> {
  const { port } = await start((req, res) => {
    req.resume().on('end', () => setImmediate(() => res.end(req.url!.slice(1))));
  });
  return port;
}

function get(port: number, agent: Agent): Promise<{ status: number; body: string; version: string }> {
  return new Promise((resolve, reject) => {
    const req = httpRequest({ port, host: '127.0.0.1', path: '/', agent }, (res) => {
      let body = '';
      res.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
      res.on('end', () => resolve({ status: res.statusCode!, body, version: String(res.headers['x-version']) }));
      res.on('error', reject);
    });
    req.on('error', reject).end();
  });
}

describe('1,000 swaps under load', () => {
  afterEach(stopAll);

  it('lose nothing, mix nothing and leak nothing', async () => {
    const backend = await versionBackend();
    const context = createContext();
    let open = 0;
    const concern: Concern = {
      name: 'rbac',
      option: 'rbac',
      stage: 'rbac',
      compile: () => {
        open++;
        return Object.assign((_req: unknown, _res: unknown, next: () => void) => setImmediate(next), {
          close: () => void open--,
        });
      },
    };
    const router = createRouter({ context, concerns: [concern] });
    const handler = router.listener(LISTENER);
    const { port } = await start((req, res) => handler(req, res, () => res.destroy()));

    // Every third version brings another upstream, so that connections are made and closed all along.
    const versionOf = (v: number): Snapshot => {
      const cluster = `up${Math.floor(v / 3)}`;
      const route = routeOf({
        to: `${cluster}_gw-system`,
        options: {
          prefixRewrite: `/${v}`,
          rbac: {} as never,
          headerManipulation: { responseHeadersToAdd: [{ header: { key: 'x-version', value: String(v) } }] },
        },
      });
      return snapshotOf([hostOf([route])], [upstreamOf([endpointOf(backend)], cluster)]);
    };

    let current = 1;
    const swapping = new AbortController();
    let answers = 0;
    router.apply(versionOf(1));
    const wrong: string[] = [];
    const agent = new Agent({ keepAlive: true });
    const client = async (): Promise<void> => {
      while (!swapping.signal.aborted) {
        const earliest = current;
        const { status, body, version } = await get(port, agent);
        answers++;
        const fits = status === 200 && body === version && Number(body) >= earliest && Number(body) <= current;
        if (!fits) wrong.push(`${status} ${body} ${version} between ${earliest} and ${current}`);
      }
    };
    const clients = Array.from({ length: CLIENTS }, client);
    while (current < SWAPS) {
      current++;
      router.apply(versionOf(current));
      await new Promise(setImmediate);
    }
    swapping.abort();
    await Promise.all(clients);
    agent.destroy();

    expect(wrong).to.deep.equal([]);
    expect(answers).to.be.greaterThan(CLIENTS);
    expect(open).to.equal(1);
    const stat = (path: string): number => {
      const found = context.metrics.list().find(({ name }) => name.path === path);
      return found && found.type !== 'histogram' ? found.stat.value : -1;
    };
    expect(stat('http.http.downstream_rq_total')).to.equal(answers);
    expect(stat('http.http.downstream_rq_2xx')).to.equal(answers);
    expect(stat('http.http.downstream_rq_active')).to.equal(0);
    const clusters = (): string[] => [
      ...new Set(context.metrics.list().flatMap(({ name }) => /^cluster\.[^.]+/.exec(name.path) ?? [])),
    ];
    await until(() => clusters().length <= 1);
    expect(clusters()).to.deep.equal([`cluster.up${Math.floor(SWAPS / 3)}_gw-system`]);
    await router.close();
    expect(open).to.equal(0);
  });
});

describe('200 reloads', () => {
  afterEach(stopAll);

  it('release the state of replaced virtual hosts only', async () => {
    let now = 0;
    const made: string[] = [];
    const concern: Concern<{ readonly key: string }> = {
      name: 'rbac',
      option: 'rbac',
      stage: 'rbac',
      compile: ({ key }, context) => {
        context.state(key, () => made.push(key));
        return (_req, _res, next) => next();
      },
    };
    const router = createRouter({ context: createContext({ now: () => now }), concerns: [concern as Concern] });
    const guarded = (key: string) => routeOf({ options: { rbac: { key } as never } });
    const hostFor = (key: string) => ({ ...hostOf([guarded('unchanged'), guarded(key)]), name: key });
    for (let i = 0; i < 200; i++) {
      router.apply(snapshotOf([hostFor(`changing ${i}`)]));
      now += 60_000;
    }
    expect(made).to.have.length(201);
    router.apply(snapshotOf([hostFor('changing 195')]));
    expect(made).to.have.length(201);
    router.apply(snapshotOf([hostFor('changing 1')]));
    expect(made.slice(201)).to.deep.equal(['changing 1']);
    await router.close();
  });
});

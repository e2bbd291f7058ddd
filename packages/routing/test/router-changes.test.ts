import { request as httpRequest } from 'node:http';
import { expect } from 'chai';
import type { Concern, Snapshot, VirtualHost } from '@edge-gateway/core';
import { createRouter } from '../src/router.ts';
import { directOf, hostOf, LISTENER, snapshotOf, start, stopAll } from './snapshots.ts';

function bodyFor(port: number, host: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const req = httpRequest({ port, host: '127.0.0.1', path: '/', headers: { host }, agent: false }, (res) => {
      let text = '';
      res.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      res.on('end', () => resolve(`${res.statusCode} ${text}`));
    });
    req.on('error', reject).end();
  });
}

const names = Array.from({ length: 12 }, (_, i) => `host-${i}`);

describe('a sequence of snapshots that share virtual hosts', () => {
  afterEach(stopAll);

  it('serves what a new router serves, and closes what it removes', async () => {
    let state = 11;
    const below = (limit: number): number => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return Math.floor((state / 2 ** 32) * limit);
    };
    let open = 0;
    let compiled = 0;
    const concern: Concern = {
      name: 'rbac',
      option: 'rbac',
      stage: 'rbac',
      compile: () => {
        open++;
        compiled++;
        return Object.assign((_req: unknown, _res: unknown, next: () => void) => next(), { close: () => void open-- });
      },
    };
    const router = createRouter({ concerns: [concern], fallthrough: 'notFound' });
    const handler = router.listener(LISTENER);
    const { port } = await start((req, res) => handler(req, res, () => res.destroy()));

    let expectedCompilations = 0;
    let hosts = new Map<string, VirtualHost>();
    let snapshot: Snapshot = snapshotOf([], []);
    for (let step = 0; step < 60; step++) {
      hosts = new Map(hosts);
      for (let i = below(4); i >= 0; i--) {
        const name = names[below(names.length)]!;
        if (below(3) === 0) hosts.delete(name);
        else {
          const domain = [`${name}.example`, `*.${name}.example`, `${name}.*`][below(3)]!;
          hosts.set(
            name,
            hostOf([directOf(`${name} at ${step}`, { options: { rbac: {} as never } })], { name, domains: [domain] }),
          );
        }
      }
      const virtualHosts = [...hosts.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
      const known = new Set(snapshot.listeners.flatMap((listener) => listener.virtualHosts));
      expectedCompilations += virtualHosts.filter((host) => !known.has(host)).length;
      const { listeners, ...rest } = step === 0 ? snapshotOf(virtualHosts, []) : snapshot;
      snapshot = { ...rest, listeners: listeners.map((listener) => ({ ...listener, virtualHosts })) };
      router.apply(snapshot);

      expect(compiled).to.equal(expectedCompilations, `step ${step}`);
      for (const [name, host] of hosts) {
        const [domain] = host.domains as readonly [string];
        const asked = domain.startsWith('*') ? `a.${name}.example` : domain.replace('*', 'anything');
        expect(await bodyFor(port, asked)).to.equal(`200 ${(host.routes[0]!.action as { body: string }).body}`);
      }
      for (const name of names) if (!hosts.has(name)) expect(await bodyFor(port, `${name}.example`)).to.match(/^404/);
    }
    await router.close();
    expect(open).to.equal(0);
  });
});

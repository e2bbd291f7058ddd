import { createContext, createLoggers } from '@edge-gateway/core';
import { expect } from 'chai';
import { createRouter, type Router } from '../../src/router.ts';
import { ask, listenOn } from '../served.ts';
import { directOf, hostOf, LISTENER, snapshotOf, stopAll } from '../snapshots.ts';

describe('a request whose host matches only without its port', () => {
  let router: Router | undefined;
  let lines: string[];

  async function serve(ignorePortInHostMatching = false): Promise<number> {
    lines = [];
    const log = createLoggers({ destination: { write: (line: string) => void lines.push(line) } });
    router = createRouter({ context: createContext({ log }) });
    const hosts = [hostOf([directOf('routed')], { domains: ['a.example'] })];
    router.apply(snapshotOf(hosts, [], { routeOptions: { ignorePortInHostMatching } }));
    return await listenOn(router);
  }
  const hints = () => lines.filter((line) => line.includes('the domain matches only without the port'));

  afterEach(async () => {
    await router?.close();
    await stopAll();
  });

  it('is rejected, and logged once with what to do', async () => {
    const port = await serve();
    for (const host of ['a.example:8443', 'a.example:8443', 'a.example:9'])
      expect(await ask(port, '/', { headers: { host } })).to.include({ status: 404 });
    expect(hints()).to.have.length(1);
    expect(JSON.parse(hints()[0]!)).to.include({ listener: LISTENER, host: 'a.example:8443' });
  });

  it('is not logged for other hosts', async () => {
    const port = await serve();
    for (const host of ['b.example:8443', 'b.example', 'a.example.evil:80'])
      expect(await ask(port, '/', { headers: { host } })).to.include({ status: 404 });
    expect(hints()).to.deep.equal([]);
  });

  it('is routed with ignorePortInHostMatching', async () => {
    const port = await serve(true);
    expect(await ask(port, '/', { headers: { host: 'a.example:8443' } })).to.include({ status: 200 });
    expect(hints()).to.deep.equal([]);
  });
});

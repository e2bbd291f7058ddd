import { Agent } from 'node:http';
import { expect } from 'chai';
import { GatewayProcess, until } from '../gateway-process.ts';
import { startHeldUpstream, type HeldUpstream } from './held-upstream.ts';
import { askOnce, isAlive, numbersOf, pidsOf } from './requests.ts';
import { direct, forwarding, upstream } from './resources.ts';

const REQUESTS = '^http\\.http\\.downstream_rq_total$';

describe('edge-gateway --workers 2', () => {
  let gateway: GatewayProcess;
  let echo: HeldUpstream;

  const startWith = async (...flags: string[]): Promise<void> => {
    echo = await startHeldUpstream();
    gateway = new GatewayProcess();
    gateway.write('a.yaml', toEcho());
    await gateway.start('--workers', '2', ...flags);
    await until(() => pidsOf(gateway).size === 2, 'both workers serve');
  };
  const start = (): Promise<void> => startWith();
  const stop = async (): Promise<void> => {
    const pids = [...pidsOf(gateway).values()];
    await gateway.close();
    echo.close();
    for (const pid of pids) await until(() => !isAlive(pid), 'the workers end with their parent');
  };
  const toEcho = (): string => `${upstream(echo.port)}---${forwarding()}`;
  const ask = (path = '/') => askOnce(gateway.url + path);
  const requestsOf = async (): Promise<number[]> =>
    Object.values(await numbersOf(gateway, '^workers\\.\\d\\.downstream_rq_total$'));
  /** Sends requests that the upstream holds, each on its own connection: some are in each worker. */
  async function hold(count: number): Promise<Promise<number | 'failed'>[]> {
    const held = Array.from({ length: count }, () =>
      ask('/held').then(
        ({ status }) => status,
        () => 'failed' as const,
      ),
    );
    await until(() => echo.held === count, `${count} requests are in progress`);
    return held;
  }
  const everywhere = async (body: string): Promise<unknown> =>
    until(async () => {
      const texts = await Promise.all(Array.from({ length: 12 }, async () => (await ask()).text));
      return texts.every((text) => text === body);
    }, `every worker serves ${body}`);

  /** Sends requests until every worker has received one more than before; returns how many. */
  async function askAll(): Promise<number> {
    const before = await requestsOf();
    let sent = 0;
    await until(async () => {
      for (let i = 0; i < 8; i++, sent++) expect((await ask()).status).to.equal(200);
      const now = await requestsOf();
      return now.length === 2 && now.every((requests, i) => requests > (before[i] ?? 0));
    }, 'every worker serves');
    return sent;
  }

  describe('that runs', () => {
    before(start);
    after(stop);

    it('serves with two processes, and answers for both on the admin ports', async () => {
      expect(await (await fetch(`${gateway.admin}/ready`)).text()).to.equal('LIVE\n');
      const sent = await askAll();
      const sums = await numbersOf(gateway, `${REQUESTS}|upstream_rq_total|membership_total`);
      expect(sums).to.deep.equal({
        'cluster.echo_gw-system.membership_total': 1,
        'cluster.echo_gw-system.upstream_rq_total': sent,
        'http.http.downstream_rq_total': sent,
      });
      const metrics = await (await fetch(`${gateway.stats}/metrics`)).text();
      expect(metrics).to.include(`envoy_cluster_upstream_rq_total{envoy_cluster_name="echo_gw-system"} ${sent}\n`);
      expect(metrics).to.match(/workers_memory_physical_size\{worker="2"\} \d+\n/);
      expect(metrics).to.include('workers_live{} 2\n');
      const clusters = await (await fetch(`${gateway.admin}/clusters`)).text();
      expect(clusters).to.include(`echo_gw-system::127.0.0.1:${echo.port}::rq_total::${sent}\n`);
      expect(clusters.match(/::hostname::/g)).to.have.length(1);
      const listeners = await (await fetch(`${gateway.admin}/listeners`)).text();
      expect(listeners.trim().split('\n')).to.have.length(1);
      const components = (await (await fetch(`${gateway.stats}/components`)).json()) as {
        name: string;
        state: string;
      }[];
      const states = components.map(({ name, state }) => `${name} ${state}`);
      expect(states).to.include.members(['worker-1 ready', 'worker-2 ready']);
      await fetch(`${gateway.admin}/reset_counters`, { method: 'POST' });
      expect(await numbersOf(gateway, REQUESTS)).to.deep.equal({ 'http.http.downstream_rq_total': 0 });
    });

    it('sets the levels of all workers, and writes what all of them log once', async () => {
      const recent = await (await fetch(`${gateway.admin}/logs`)).text();
      expect(recent.match(/"worker":\d,"logger":"conn_handler".*"msg":"listening"/g)).to.have.length(1);
      await fetch(`${gateway.admin}/logging?level=error`, { method: 'POST' });
      gateway.write('a.yaml', direct('silent'));
      await everywhere('silent');
      expect(gateway.errors).to.not.include('"revision":2');
      await fetch(`${gateway.admin}/logging?level=info`, { method: 'POST' });
    });

    it('loses no request while the configuration changes under load', async () => {
      gateway.write('a.yaml', direct('version-0'));
      await everywhere('version-0');
      const load = { isDone: false };
      const client = async (): Promise<void> => {
        while (!load.isDone) {
          const { status, text } = await ask();
          expect([status, text.slice(0, 8)]).to.deep.equal([200, 'version-']);
        }
      };
      const clients = Promise.all([client(), client(), client()]);
      for (let i = 1; i <= 5; i++) {
        gateway.write('a.yaml', direct(`version-${i}`));
        await everywhere(`version-${i}`);
      }
      load.isDone = true;
      await clients;
    });

    it('is ready while one worker responds, and not while all are stalled', async () => {
      const pids = pidsOf(gateway);
      const readiness = async (): Promise<number> => (await fetch(`${gateway.admin}/ready`)).status;
      const stateOf = async (name: string): Promise<string | undefined> => {
        const components = (await (await fetch(`${gateway.stats}/components`)).json()) as {
          name: string;
          state: string;
        }[];
        return components.find((each) => each.name === name)?.state;
      };
      try {
        process.kill(pids.get(1)!, 'SIGSTOP');
        await until(async () => (await stateOf('worker-1')) === 'failed', 'the stall of one worker is noticed');
        expect(await readiness()).to.equal(200);
        process.kill(pids.get(2)!, 'SIGSTOP');
        await until(async () => (await readiness()) === 503, 'the stall of all workers is noticed');
      } finally {
        for (const pid of pids.values()) process.kill(pid, 'SIGCONT');
      }
      await until(async () => (await readiness()) === 200, 'the workers respond again');
      await until(async () => (await stateOf('worker-1')) === 'ready', 'the first worker responds again');
      expect(await askAll()).to.be.greaterThan(0);
      const misses = await numbersOf(gateway, '^workers\\.watchdog_mega_miss$');
      expect(misses['workers.watchdog_mega_miss']).to.be.at.least(2);
      expect(pidsOf(gateway)).to.deep.equal(pids);
    });

    it('records a request, whichever worker serves it', async () => {
      gateway.write('a.yaml', toEcho());
      await until(async () => (await ask('/x')).text === '/x', 'the upstream is used');
      const trace = async (query: string, method = 'GET'): Promise<any> =>
        (await fetch(`${gateway.admin}/trace${query}`, { method })).json();
      const before = await requestsOf();
      await until(async () => {
        const { token, header } = await trace('', 'POST');
        const path = `/traced-${token.slice(0, 4)}`;
        expect((await askOnce(gateway.url + path, { [header]: token })).status).to.equal(200);
        const { recording } = await until(async () => {
          const found = await trace(`?token=${token}`);
          return found.state === 'done' && found;
        }, 'the record');
        expect(recording).to.include({ path, status: 200, upstream: 'echo_gw-system' });
        const now = await requestsOf();
        return now.every((requests, i) => requests > (before[i] ?? 0));
      }, 'both workers have recorded a request');
    });

    it('replaces a worker that dies, of which only the requests in progress fail', async () => {
      gateway.write('a.yaml', toEcho());
      await until(async () => (await ask('/x')).text === '/x', 'the upstream is used again');
      await askAll();
      await fetch(`${gateway.admin}/reset_counters`, { method: 'POST' });
      const [before] = await requestsOf();
      const slow = await hold(16);
      const [now] = await requestsOf();
      const pids = pidsOf(gateway);
      process.kill(pids.get(1)!, 'SIGKILL');
      await until(() => echo.held === 16 - (now! - before!), 'the requests of the worker are aborted');
      echo.release();
      const results = await Promise.all(slow);
      expect(results.filter((each) => each === 'failed')).to.have.length(now! - before!);
      expect(results.filter((each) => each === 200)).to.have.length(16 - (now! - before!));
      await until(() => pidsOf(gateway).get(1) !== pids.get(1), 'the worker is replaced');
      expect(gateway.errors).to.match(/"worker":1,"pid":\d+,"signal":"SIGKILL".*"worker ended unexpectedly"/);
      expect(pidsOf(gateway).get(2)).to.equal(pids.get(2));
      expect(await (await fetch(`${gateway.admin}/ready`)).text()).to.equal('LIVE\n');
      const sent = await askAll();
      const after = await numbersOf(gateway, `${REQUESTS}|^workers\\.(live|restarts)$`);
      expect(after).to.deep.equal({
        'http.http.downstream_rq_total': 16 + sent,
        'workers.live': 2,
        'workers.restarts': 1,
      });
      gateway.write('a.yaml', direct('changed'));
      await everywhere('changed');
    });
  });

  describe('whose workers end while they apply a change', () => {
    before(start);
    after(stop);

    it('rejects the change, serves the previous state with new workers, and applies the next change', async () => {
      gateway.write('a.yaml', direct('good'));
      await everywhere('good');
      const pids = pidsOf(gateway);
      for (const pid of pids.values()) process.kill(pid, 'SIGSTOP');
      gateway.write('a.yaml', direct('fatal'));
      await until(() => gateway.errors.includes('"revision":3'), 'the change is translated');
      for (const pid of pids.values()) process.kill(pid, 'SIGKILL');
      await until(() => gateway.errors.includes('configuration change rejected'), 'the change is rejected');
      expect(gateway.errors).to.include('"reason":"all workers ended while they applied it","isPreviousServed":true');
      await until(async () => (await fetch(`${gateway.admin}/ready`)).status === 200, 'ready again');
      await everywhere('good');
      gateway.write('a.yaml', direct('next'));
      await everywhere('next');
    });

    it('keeps a change during which only one of them ends', async () => {
      const pids = pidsOf(gateway);
      process.kill(pids.get(1)!, 'SIGSTOP');
      gateway.write('a.yaml', direct('survives'));
      await until(() => gateway.errors.includes('"revision":5'), 'the change is translated');
      process.kill(pids.get(1)!, 'SIGKILL');
      await until(() => pidsOf(gateway).get(1) !== pids.get(1), 'the worker is replaced');
      await everywhere('survives');
    });
  });

  describe('with a worker that hangs', () => {
    before(() => startWith('--drain-seconds', '3600'));
    after(stop);

    it('exits with 0 when the requests of the other one are finished', async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      await askOnce(gateway.url, {}, agent);
      let counts: Record<string, number> = {};
      await until(async () => {
        counts = await numbersOf(gateway, '^workers\\.\\d\\.downstream_rq_total$');
        return Object.values(counts).includes(1);
      }, 'the request is counted');
      // The other request has the same connection, and therefore the same worker.
      const other = counts['workers.1.downstream_rq_total'] === 1 ? 2 : 1;
      process.kill(pidsOf(gateway).get(other)!, 'SIGSTOP');
      const slow = askOnce(`${gateway.url}/held`, {}, agent).then(({ status }) => status);
      await until(() => echo.held === 1, 'a request is in progress');
      gateway.child.kill('SIGTERM');
      await until(async () => (await fetch(`${gateway.admin}/ready`)).status === 503, 'not ready any more');
      echo.release();
      expect(await slow).to.equal(200);
      expect(await gateway.ended()).to.equal(0);
    });
  });

  describe('that stops', () => {
    beforeEach(start);
    afterEach(stop);

    it('finishes the requests of all workers, writes a line for each, and exits with 0', async () => {
      // Lines longer than what pipes write at once.
      const paths = Array.from({ length: 300 }, (_, i) => `/${i}/${'x'.repeat((i * 37) % 6000)}`);
      const waiting = [...paths];
      const client = async (): Promise<void> => {
        for (let path = waiting.pop(); path; path = waiting.pop()) expect((await ask(path)).status).to.equal(200);
      };
      await Promise.all(Array.from({ length: 8 }, client));
      const slow = await hold(12);
      gateway.child.kill('SIGTERM');
      await until(async () => (await fetch(`${gateway.admin}/ready`)).status === 503, 'not ready any more');
      echo.release();
      for (const each of slow) expect(await each).to.equal(200);
      expect(await gateway.ended()).to.equal(0);
      const logged = gateway.output
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { path: string }).path);
      expect(logged.filter((path) => path.startsWith('/held'))).to.have.length(12);
      expect(logged.filter((path) => !path.startsWith('/held')).toSorted()).to.deep.equal(paths.toSorted());
    });

    it('ends all processes at a second SIGTERM', async () => {
      const [slow] = await hold(1);
      await until(() => {
        gateway.child.kill('SIGTERM');
        return gateway.child.exitCode !== null;
      }, 'the process ended');
      expect(gateway.child.exitCode).to.equal(143);
      expect(await slow).to.equal('failed');
    });

    it('drains its workers when the parent dies', async () => {
      const slow = await hold(8);
      gateway.child.kill('SIGKILL');
      expect(await Promise.race([gateway.ended(), ...slow])).to.equal(null);
      echo.release();
      for (const each of slow) expect(await each).to.equal(200);
    });
  });
});

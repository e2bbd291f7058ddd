import { expect } from 'chai';
import { startRedis } from '../../../test/parts/redis.ts';
import { GatewayProcess } from './gateway-process.ts';

const settings = (requestsPerUnit: number): string => `
apiVersion: settings.gw.vendor.io/v1
kind: Settings
metadata: { name: default, namespace: gw-system }
spec: { ratelimit: { descriptors: [{ key: user, rateLimit: { requestsPerUnit: ${requestsPerUnit}, unit: YEAR } }] } }
`;

describe('edge-gateway rate-limit', () => {
  it('counts over HTTP, follows changes without losing counters, lists its rules, and stops', async function () {
    this.timeout(60_000);
    const server = new GatewayProcess();
    server.write('rules.yaml', settings(1));
    await server.startRole('rate-limit', '--grpc-port', '0', '--http-port', '0', '--stats-port', '0');
    const { httpPort, statsPort } = server.ready;
    const page = async (path: string) => (await fetch(`http://127.0.0.1:${statsPort}${path}`)).text();
    const body = '{"domain": "custom", "descriptors": [{"entries": [{"key": "user", "value": "alice"}]}]}';
    const ask = async () => (await fetch(`http://127.0.0.1:${httpPort}/json`, { method: 'POST', body })).status;
    expect([await ask(), await ask()]).to.deep.equal([200, 429]);
    expect(await page('/')).to.include('href="/rlconfig"');
    expect(await page('/metrics')).to.include('ratelimit_vendor_io_over_limit{descriptor="custom.user"} 1');
    server.write('rules.yaml', settings(3));
    const line = 'custom.user: unit=YEAR requests_per_unit=3 weight=0 always_apply=false\n';
    const giveUp = Date.now() + 20_000;
    while ((await page('/rlconfig')) !== line) expect(Date.now()).to.be.below(giveUp);
    // Two were counted before.
    expect([await ask(), await ask()]).to.deep.equal([200, 429]);
    server.child.kill('SIGTERM');
    expect(await server.ended()).to.equal(0);
  });

  it('shares its counters with other servers on the same Redis', async function () {
    this.timeout(60_000);
    const redis = await startRedis();
    const servers = [new GatewayProcess(), new GatewayProcess()];
    for (const server of servers) {
      server.write('rules.yaml', settings(100));
      const ports = ['--grpc-port', '0', '--http-port', '0', '--stats-port', '0'];
      await server.startRole('rate-limit', ...ports, '--rate-limit-redis', `redis://${redis.host}`);
    }
    const body = '{"domain": "custom", "descriptors": [{"entries": [{"key": "user", "value": "alice"}]}]}';
    const ask = async (i: number): Promise<number> => {
      const response = await fetch(`http://127.0.0.1:${servers[i % 2]!.ready.httpPort}/json`, { method: 'POST', body });
      await response.text();
      return response.status;
    };
    const statuses = await Promise.all(Array.from({ length: 300 }, (_, i) => ask(i)));
    expect(statuses.filter((status) => status === 200)).to.have.length(100);
    expect(statuses.filter((status) => status === 429)).to.have.length(200);
    for (const server of servers) await server.close();
    await redis.close();
  });
});

import { expect } from 'chai';
import { startEcho, type Service } from '@edge-gateway/demo';
import { GatewayProcess, until } from '../gateway-process.ts';
import { askOnce, numbersOf, pidsOf } from './requests.ts';
import { forwarding, upstream } from './resources.ts';

const SECRET = `---
apiVersion: v1
kind: Secret
metadata: { name: client }
type: extauth.vendor.io/oauth
stringData: { client-secret: only-for-tests }
`;

const LOGIN = (name: string, session: string): string => `---
apiVersion: enterprise.gw.vendor.io/v1
kind: AuthConfig
metadata: { name: ${name} }
spec:
  configs:
    - oauth2:
        oidcAuthorizationCode:
          issuerUrl: https://login.example.com
          clientId: shop
          clientSecretRef: { name: client, namespace: gw-system }
          appUrl: https://shop.example.com
          callbackPath: /callback
          session: ${session}
`;

describe('the limits and logins of edge-gateway --workers 2', () => {
  let gateway: GatewayProcess;
  let echo: Service;
  before(async () => {
    echo = await startEcho();
    gateway = new GatewayProcess();
    gateway.write(
      'a.yaml',
      `${upstream(echo.port)}---
${forwarding('{ ratelimitBasic: { anonymousLimits: { requestsPerUnit: 20, unit: YEAR } } }', 'counted', "['counted']")}---
${forwarding('{ ratelimit: { localRatelimit: { maxTokens: 4, fillInterval: 36000s } } }', 'local', "['local']")}
${SECRET}${LOGIN('in-memory', '{ redis: {} }')}${LOGIN('denied', '{ cookie: { logoutDenyList: {} } }')}
${LOGIN('refreshed', '{ cookie: { allowRefreshing: true } }')}
${LOGIN('in-redis', '{ redis: { options: { host: 127.0.0.1:1 } } }')}${LOGIN('in-cookies', '{ cookie: {} }')}`,
    );
    await gateway.start('--workers', '2');
  });
  after(async () => {
    await gateway.close();
    await echo.close();
  });

  const statuses = async (host: string, count: number): Promise<number[]> => {
    const responses = await Promise.all(Array.from({ length: count }, () => askOnce(gateway.url, { host })));
    return responses.map(({ status }) => status);
  };

  it('counts rate limits in memory exactly over all workers, also after one was replaced', async () => {
    const found = await statuses('counted', 32);
    expect(found.filter((status) => status === 200)).to.have.length(20);
    expect(found.filter((status) => status === 429)).to.have.length(12);
    const requests = Object.values(await numbersOf(gateway, '^workers\\.\\d\\.downstream_rq_total$'));
    expect(Math.min(...requests)).to.be.greaterThan(0);
    const before = (await until(() => pidsOf(gateway).get(1), 'the first worker serves'))!;
    process.kill(before, 'SIGKILL');
    await until(() => pidsOf(gateway).get(1) !== before, 'the worker is replaced');
    expect(await statuses('counted', 8)).to.deep.equal(Array.from({ length: 8 }, () => 429));
  });

  it('divides local rate limits by the workers', async () => {
    const found = await statuses('local', 64);
    expect(found.filter((status) => status === 200)).to.have.length(4);
  });

  it('rejects logins whose sessions are in memory, and warns of refreshes by two processes', async () => {
    const input = (await (await fetch(`${gateway.stats}/snapshots/input`)).json()) as { data: any[] };
    const statusOf = (name: string) => {
      const found = input.data.find(({ kind, metadata }) => kind === 'AuthConfig' && metadata.name === name);
      return found.status.statuses['gw-system'] as { state: string; reason?: string };
    };
    expect(statusOf('in-memory').state).to.equal('Rejected');
    expect(statusOf('in-memory').reason).to.include(
      'sessions cannot be stored in memory, which processes do not share, with --workers 2',
    );
    expect(statusOf('denied').reason).to.include('logged-out sessions cannot be listed in memory with --workers 2');
    expect(statusOf('refreshed').state).to.equal('Warning');
    expect(gateway.errors).to.include('set the host of a Redis, or run with --workers 1');
    for (const name of ['in-redis', 'in-cookies']) expect(statusOf(name).reason ?? '').to.not.include('--workers');
  });
});

import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { until } from '../../apps/gateway/test/gateway-process.ts';
import { mixedFlows } from './flows.ts';
import { suiteWorld } from './suite-world.ts';
import { countOf, underTraffic } from './traffic.ts';

const CALM_MS = 1000;
const LIMIT_BYTES = 512 * 1024;

describe('the key sets of the identity provider under traffic', () => {
  const suite = suiteWorld();

  const other = (): string => {
    const key = { kty: 'RSA', kid: 'other', alg: 'RS256', use: 'sig', e: 'AQAB', n: `${'q'.repeat(341)}Q` };
    return JSON.stringify({ keys: [key] });
  };
  const BAD: Readonly<Record<string, () => string | undefined>> = {
    broken: () => '{"keys":[',
    'of other shape': () => '{"keys":{}}',
    empty: () => '{"keys":[]}',
    'no bytes': () => '',
    HTML: () => '<html>maintenance</html>',
    '10 MiB': () => other() + ' '.repeat(10 * 1024 * 1024),
    'one byte more than 512 KiB': () => other().padEnd(LIMIT_BYTES + 1),
    'cut off': () => undefined,
  };

  it('broken, empty, too large, HTML or missing key set: keeps the previous keys, and counts the failure', async () => {
    const { world } = suite;
    world.configure({ keysFor: '1s' });
    await wait(CALM_MS);
    await world.settle();
    const failed = await Promise.all(world.nodes.map(alarms));
    let reads = 0;
    const report = await underTraffic('broken key sets', mixedFlows(world), async (phase) => {
      for (const [what, text] of Object.entries(BAD)) {
        phase(what);
        reads = 0;
        world.provider.intercept = (req, res) => {
          if (req.url !== '/jwks') return false;
          reads++;
          const body = text();
          if (body === undefined) req.socket.destroy();
          else res.writeHead(200, { 'content-type': 'application/json' }).end(body);
          return true;
        };
        await until(() => reads >= world.nodes.length * 2, 'reads of the bad set');
        await wait(CALM_MS);
      }
      phase('after');
      world.provider.intercept = undefined;
      await wait(CALM_MS);
    });
    for (const phase of Object.keys(BAD)) {
      expect(countOf(report, 'served', { phase, flows: ['tokens', 'accounts'] }), phase).to.be.greaterThan(5);
      expect(countOf(report, 'served', { phase, flows: ['logins'] }), phase).to.be.greaterThan(0);
    }
    const now = await Promise.all(world.nodes.map(alarms));
    for (const [node, names] of now.entries()) {
      for (const [name, count] of Object.entries(names)) {
        expect(count, `${name} of gateway ${node}`).to.be.greaterThan(failed[node]![name]!);
      }
    }
  });
});

const ALARMS = ['envoy_http_jwt_authn_jwks_fetch_failed', 'envoy_http_ext_authz_jwks_fetch_failed'];

/** What an operator watches. */
async function alarms({ stats }: { readonly stats: string }): Promise<Record<string, number>> {
  const text = await (await fetch(`${stats}/metrics`)).text();
  return Object.fromEntries(
    ALARMS.map((name) => [name, Number(new RegExp(`^${name}\\S* (\\d+)`, 'm').exec(text)?.[1] ?? 0)]),
  );
}

import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createLoggers } from '@edge-gateway/core';
import { expect } from 'chai';
import { freePort } from '../../../../test/parts/free-port.ts';
import { settingsOf } from '../../../../test/parts/role-settings.ts';
import { until } from '../../../../test/parts/until.ts';
import type { RunningRole } from '../../src/command-line/role.ts';
import { startProxy } from '../../src/roles/proxy.ts';

const NO_STATE = 'no state to serve, waiting for a control plane';

describe('a proxy whose control planes cannot be reached', () => {
  let silent: Server;
  let sockets: Set<Socket>;
  let starting: Promise<RunningRole>;
  let lines: { readonly msg: string; readonly reason?: string }[];

  before(async () => {
    sockets = new Set();
    silent = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => {});
    });
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  });
  afterEach(async () => (await starting).stop());
  after(() => {
    for (const socket of sockets) socket.destroy();
    silent.close();
  });

  /** Starts a proxy without a saved state, and returns why it does not wait longer for one. */
  async function reasonWith(xds: readonly string[]): Promise<string> {
    lines = [];
    const log = createLoggers({ destination: { write: (line) => void lines.push(JSON.parse(line)) } });
    const args = ['proxy', '--admin-port', '0', '--xds', xds.join(',')];
    starting = startProxy((await settingsOf(args)) as never, { log, quit: () => {} });
    starting.catch(() => {});
    await until(() => lines.some(({ msg }) => msg === NO_STATE), 'the end of the wait');
    return lines.find(({ msg }) => msg === NO_STATE)!.reason!;
  }
  const closed = async (): Promise<string> => `127.0.0.1:${await freePort()}`;

  it('waits for the others after the first failure', async () => {
    const { port } = silent.address() as AddressInfo;
    expect(await reasonWith([await closed(), `127.0.0.1:${port}`])).to.equal('no response within 2 s');
  });

  it('does not wait after all have failed', async () => {
    expect(await reasonWith([await closed(), await closed()])).to.contain('ECONNREFUSED');
  });

  it('does not repeat the log line while the reason stays the same', async () => {
    await reasonWith([await closed()]);
    const { adminPort } = (await starting).facts as { readonly adminPort: number };
    const failures = async (): Promise<number> => {
      const text = await (await fetch(`http://127.0.0.1:${adminPort}/stats?filter=update_failure`)).text();
      return Math.max(...Array.from(text.matchAll(/: (\d+)/g), ([, count]) => Number(count)));
    };
    await until(async () => (await failures()) >= 3, 'more attempts');
    expect(lines.filter(({ msg }) => msg === NO_STATE)).to.have.lengthOf(1);
  });
});

import { readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { expect } from 'chai';
import type { SocketOption } from '@edge-gateway/core';
import { skip } from '../../../../test/parts/skip.ts';
import { compileSocketOptions } from '../../src/listen/socket-settings.ts';
import { listenerOf, open, serve, snapshotOf, type Serving } from './serving.ts';

const KEEP_ALIVE = { level: 1, name: 9, intValue: 1 };
const TOS = { level: 0, name: 1, intValue: 184 };
const TICKS_PER_SECOND = 100;

/** Seconds until the next keep-alive probe of an accepted connection, as Linux counts them; 0 without probes. */
function probeSeconds({ localPort = 0, remotePort = 0 }: Socket): number {
  const hex = (port: number): string => `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const lines = readFileSync('/proc/net/tcp', 'utf8').split('\n');
  const fields = lines.map((line) => line.trim().split(/\s+/));
  const own = fields.find((each) => each[1]?.endsWith(hex(localPort)) && each[2]?.endsWith(hex(remotePort)));
  const [kind, when = ''] = own![5]!.split(':');
  return kind === '02' ? Math.round(Number.parseInt(when, 16) / TICKS_PER_SECOND) : 0;
}

describe('socketOptions of a listener', () => {
  let serving: Serving;
  let accepted: Socket[];

  async function serveWith(socketOptions: readonly SocketOption[]): Promise<void> {
    accepted = [];
    serving = await serve(
      (req, res) => {
        accepted.push(req.socket);
        res.end('ok');
      },
      { listener: { options: { socketOptions: [...socketOptions] } } },
    );
  }

  /** Returns the connection of a new client, as the gateway has it. */
  async function connection(): Promise<Socket> {
    const { socket, until } = await open(serving.port);
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await until('ok');
    return accepted.at(-1)!;
  }

  afterEach(() => serving.close());

  it('are the defaults without any', async () => {
    await serveWith([]);
    const socket = await connection();
    expect(socket.getTypeOfService()).to.equal(0);
    if (process.platform === 'linux') expect(probeSeconds(socket)).to.equal(0);
  });

  it('set the type of service', async () => {
    await serveWith([TOS]);
    expect((await connection()).getTypeOfService()).to.equal(184);
  });

  it('send keep-alive probes', async function () {
    if (process.platform !== 'linux') return skip(this, 'only Linux lists the timers of connections');
    for (const [options, seconds] of [
      [[KEEP_ALIVE, { level: 6, name: 4, intValue: 100 }], 100],
      [[KEEP_ALIVE, { level: 6, name: 6, intValue: 3 }], 7200],
      [[{ level: 6, name: 4, intValue: 100 }], 0],
    ] as const) {
      await serveWith(options);
      // The timer may have counted down on a busy machine.
      expect(probeSeconds(await connection())).to.be.within(seconds && seconds - 60, seconds);
      await serving.close();
    }
  });

  for (const [what, options, expected] of [
    ['delay small writes', [{ level: 6, name: 1, intValue: 0 }], [['noDelay', false]]],
    ['leave the times of keep-alive probes to the system', [KEEP_ALIVE], [['keepAlive', true, 0, 75_000, 9]]],
    [
      'set the times and the number of keep-alive probes',
      [
        KEEP_ALIVE,
        { level: 6, name: 4, intValue: 60 },
        { level: 6, name: 5, intValue: 5 },
        { level: 6, name: 6, intValue: 3 },
      ],
      [['keepAlive', true, 60_000, 5_000, 3]],
    ],
    [
      'set an interval with the defaults of Linux',
      [KEEP_ALIVE, { level: 6, name: 5, intValue: 5 }],
      [['keepAlive', true, 7_200_000, 5_000, 9]],
    ],
  ] as const) {
    it(what, () => {
      const calls: unknown[][] = [];
      class Recorded extends Socket {
        override setNoDelay(...args: unknown[]): this {
          calls.push(['noDelay', ...args]);
          return this;
        }
        override setKeepAlive(...args: unknown[]): this {
          calls.push(['keepAlive', ...args]);
          return this;
        }
      }
      compileSocketOptions(options)!(new Recorded());
      expect(calls).to.deep.equal(expected);
    });
  }

  it('need no call if they are the defaults', () => {
    const defaults = [
      { level: 6, name: 1, intValue: 1 },
      { level: 1, name: 9, intValue: 0 },
    ];
    expect(compileSocketOptions(defaults)).to.equal(undefined);
    expect(compileSocketOptions()).to.equal(undefined);
  });

  it('that Node cannot set are ignored', async () => {
    await serveWith([{ level: 6, name: 23, intValue: 5 }, { level: 0, name: 1, intValue: 999 }, TOS]);
    expect((await connection()).getTypeOfService()).to.equal(184);
  });

  it('apply to new connections when they change', async () => {
    await serveWith([TOS]);
    const before = await connection();
    const options = { socketOptions: [{ ...TOS, intValue: 40 }] };
    await serving.listeners.apply(snapshotOf(listenerOf({ options })));
    expect((await connection()).getTypeOfService()).to.equal(40);
    expect(before.getTypeOfService()).to.equal(184);
  });
});

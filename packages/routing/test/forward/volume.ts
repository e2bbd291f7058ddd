import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { closeAll, httpUpstream, whenDone } from './harness.ts';

/** Most that the memory of a gateway may grow while a body of any size passes, in bytes. */
const MEMORY_LIMIT = 64 * 1024 * 1024;
const CHUNK = Buffer.alloc(64 * 1024, 'v');

interface VolumeGateway {
  readonly port: number;
  /** Growth of the resident memory while `act` runs, at its highest, in bytes. */
  growth(act: () => Promise<void>): Promise<number>;
}

/** A gateway in a process of its own before an upstream that takes uploads and gives as many bytes as the path says. */
async function volumeGateway(): Promise<VolumeGateway> {
  const upstreamPort = await httpUpstream((req, res) => {
    if (req.method === 'POST') void count(req).then((bytes) => res.end(String(bytes)));
    else pour(res, Number(req.url!.slice(1)));
  });
  const child = fork(new URL('gateway-child.ts', import.meta.url), [String(upstreamPort)], {
    execArgv: ['--conditions=source'],
  });
  whenDone(() => {
    child.kill();
    return once(child, 'exit');
  });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return {
    port,
    async growth(act) {
      const before = await ask(child, 'reset');
      await act();
      return (await ask(child, 'peak')).peak - before.rss;
    },
  };
}

async function ask(child: ChildProcess, question: string): Promise<{ peak: number; rss: number }> {
  const answer = once(child, 'message');
  child.send(question);
  return (await answer)[0] as { peak: number; rss: number };
}

export async function count(stream: IncomingMessage): Promise<number> {
  let bytes = 0;
  stream.on('data', (chunk: Buffer) => (bytes += chunk.length));
  await once(stream, 'end');
  return bytes;
}

/** Writes so many bytes, as fast as they are taken, and ends the stream. */
export function pour(stream: NodeJS.WritableStream, bytes: number): void {
  let left = bytes;
  const fill = (): void => {
    while (left > 0) {
      const chunk = left < CHUNK.length ? CHUNK.subarray(0, left) : CHUNK;
      left -= chunk.length;
      if (!stream.write(chunk)) return void stream.once('drain', fill);
    }
    stream.end();
  };
  fill();
}

/** Downloads so many bytes through a gateway and gives how many came. */
async function download(port: number, bytes: number): Promise<number> {
  const req = request({ port, path: `/${bytes}`, agent: false }).end();
  const [res] = (await once(req, 'response')) as [IncomingMessage];
  return count(res);
}

/** Uploads so many bytes through a gateway and gives how many the upstream counted. */
async function upload(port: number, bytes: number): Promise<number> {
  const req = request({ port, method: 'POST', agent: false });
  pour(req, bytes);
  const [res] = (await once(req, 'response')) as [IncomingMessage];
  const text: Buffer[] = [];
  res.on('data', (chunk: Buffer) => text.push(chunk));
  await once(res, 'end');
  return Number(Buffer.concat(text).toString());
}

// The heap of a fresh process grows to its working size first, whatever it does.
const WARM_UP = 128 * 1024 * 1024;

/** Describes that so many bytes are streamed in little memory, in both directions. */
export function describeVolume(name: string, bytes: number): Mocha.Suite {
  return describe(`forward, with ${name}`, () => {
    afterEach(closeAll);

    for (const [direction, move] of Object.entries({ down: download, up: upload }))
      it(`streams them ${direction} in little memory`, async () => {
        const gw = await volumeGateway();
        await move(gw.port, WARM_UP);
        const grown = await gw.growth(async () => {
          expect(await move(gw.port, bytes)).to.equal(bytes);
        });
        expect(grown).to.be.lessThan(MEMORY_LIMIT);
      });
  });
}

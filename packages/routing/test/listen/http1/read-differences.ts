import { createServer, type IncomingMessage } from 'node:http';
import { Duplex } from 'node:stream';
import { checkRequest } from '../../../src/check/check-request.ts';
import { checkHead } from '../../../src/check/check-head.ts';
import { DEFAULT_LIMITS } from '../../../src/listen/limits.ts';
import { PlainHeadReader } from '../../../src/listen/http1/plain-head.ts';
import { mutated, randomRequest, seeded } from './requests.ts';

/** What a reader made of some bytes. */
interface Read {
  readonly method: string | undefined;
  readonly target: string | undefined;
  readonly rawHeaders: readonly string[];
  readonly contentLength: string | undefined;
  readonly keepAlive: boolean;
}

/** A connection whose input is written at once. */
class Input extends Duplex {
  override _read(): void {}

  override _write(_chunk: unknown, _encoding: unknown, done: () => void): void {
    done();
  }
}

interface Found {
  readonly req: IncomingMessage;
  readonly read: Read;
}

/** Returns a function that reads one request with the parser of `node:http`, as listeners use it. */
function nodeReader(): (bytes: Buffer) => Promise<Found | undefined> {
  const server = createServer({ maxHeaderSize: 32_768, requireHostHeader: false });
  let done: (found?: Found) => void = () => {};
  server.maxHeadersCount = 0;
  server.on('request', (req, { shouldKeepAlive: keepAlive }) => {
    const { method, url: target, rawHeaders, headers } = req;
    done({ req, read: { method, target, rawHeaders, contentLength: headers['content-length'], keepAlive } });
  });
  for (const event of ['clientError', 'upgrade', 'connect', 'checkContinue', 'checkExpectation'])
    server.on(event, () => done());
  return (bytes) =>
    new Promise((resolve) => {
      const input = new Input();
      done = (found) => {
        input.destroy();
        resolve(found);
      };
      server.emit('connection', input);
      input.push(bytes);
      setImmediate(done);
    });
}

/** Compares the plain reader with `node:http` and the checks of a request. Returns the number of plain requests, and differences. */
export async function readDifferences(seed: number, count: number): Promise<{ plain: number; differences: string[] }> {
  const random = seeded(seed);
  const readByNode = nodeReader();
  const differences: string[] = [];
  let plain = 0;
  for (let i = 0; i < count && differences.length < 5; i++) {
    const request = randomRequest(random, random.pick([0, 0.05, 0.2]));
    const text = random.chance(0.7) ? mutated(request, random) : request;
    const bytes = Buffer.from(text, 'latin1');
    const head = new PlainHeadReader(DEFAULT_LIMITS).read(bytes, 0, bytes.length);
    if (!head) continue;
    plain++;
    const found = await readByNode(bytes);
    const { method, target, rawHeaders, contentLength, keepAlive } = head;
    const own = { method, target, rawHeaders, contentLength: contentLength?.toString(), keepAlive };
    const refused = found && checkHead(found.req, { limits: DEFAULT_LIMITS, isUpgrade: false });
    const limited = found && checkRequest(found.req, DEFAULT_LIMITS);
    const bodyStart = bytes.indexOf('\r\n\r\n') + 4;
    const isSame = JSON.stringify(own) === JSON.stringify(found?.read) && head.bodyStart === bodyStart;
    if (!isSame || refused || limited)
      differences.push(JSON.stringify({ seed, i, text, own, node: found?.read, refused, limited }));
  }
  return { plain, differences };
}

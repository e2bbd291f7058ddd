// Connects to a server that sends too many CONTINUATION frames, and frees the sessions. Run with --expose-gc.
import { connect } from 'node:http2';
import { createServer, type AddressInfo } from 'node:net';
import { keepSessionsOfFailedStreams } from '../../src/http/failed-http2-streams.ts';

const CONNECTIONS = 60;
const FRAMES = { headers: 1, settings: 4, continuation: 9 };

function frame(type: number, stream: number, payload: Buffer): Buffer {
  const header = Buffer.alloc(9);
  header.writeUIntBE(payload.length, 0, 3);
  header[3] = type;
  header.writeUInt32BE(stream, 5);
  return Buffer.concat([header, payload]);
}

/** A field as a literal that is not indexed. */
function field(name: string, value: string): Buffer {
  return Buffer.from(`\0${String.fromCharCode(name.length)}${name}${String.fromCharCode(value.length)}${value}`);
}

/** Made anew for each connection: garbage of all ages is freed in the order that ends the process. */
function flood(): Buffer {
  const continuations = Array.from({ length: 1_000 }, () => frame(FRAMES.continuation, 1, field('x-a', 'b')));
  return Buffer.concat([frame(FRAMES.headers, 1, field(':status', '200')), ...continuations]);
}

const server = createServer((socket) => {
  socket.on('error', () => {}).write(frame(FRAMES.settings, 0, Buffer.alloc(0)));
  socket.once('data', () => socket.write(flood(), () => setTimeout(() => socket.destroy(), 5)));
});

const failures = new Set<string>();

function connectAll(port: number, rest: number): void {
  if (rest === 0) {
    server.close();
    console.log([...failures].join());
    return;
  }
  const session = connect(`http://127.0.0.1:${port}`);
  session.on('error', ({ message }) => failures.add(message));
  session.on('close', () => {
    if (rest % 10 > 0) setImmediate(connectAll, port, rest - 1);
    else setTimeout(freeGarbage, 2, port, rest - 1);
  });
  session
    .request({ ':path': '/' })
    .on('error', () => {})
    .end();
}

function freeGarbage(port: number, rest: number): void {
  globalThis.gc!();
  setTimeout(connectAll, 2, port, rest);
}

if (process.argv.includes('keep')) keepSessionsOfFailedStreams();
server.listen(0, '127.0.0.1', () => connectAll((server.address() as AddressInfo).port, CONNECTIONS));

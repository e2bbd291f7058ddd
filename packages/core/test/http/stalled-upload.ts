// Cancels an upload whose server does not read, and prints whether the data that its connection is still sending is in memory. Run with --expose-gc.
import { once } from 'node:events';
import { connect, type ClientHttp2Session } from 'node:http2';
import { createServer, type AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { createContext } from '../../src/contract/concern.ts';
import { protectHttp2, protectHttp2Session } from '../../src/http/protect-http2.ts';

/** More than the buffers of a connection take. */
const WINDOW = 32 * 1024 * 1024;
/** More than the window: Node passes on only a part of the data. */
const UPLOAD_BYTES = 2 * WINDOW;

function frame(type: number, payload: Buffer): Buffer {
  const header = Buffer.alloc(9);
  header.writeUIntBE(payload.length, 0, 3);
  header[3] = type;
  return Buffer.concat([header, payload]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

const settings = frame(4, Buffer.concat([Buffer.of(0, 4), uint32(WINDOW)]));
const connectionWindow = frame(8, uint32(WINDOW - 65_535));

/** A server that reads nothing after the first request. */
const server = createServer((socket) => {
  socket.on('error', () => {}).write(Buffer.concat([settings, connectionWindow]));
  socket.once('data', () => socket.pause());
});

/** Begins an upload, and cancels it when the buffers of the connection are full. Returns a reference to its data. */
async function cancelledUpload(session: ClientHttp2Session): Promise<WeakRef<ArrayBufferLike>> {
  const stream = session.request({ ':method': 'POST', ':path': '/' });
  stream.on('error', () => {});
  const reference = beginUpload((chunk) => stream.write(chunk));
  for (let before = -1; session.socket.bytesWritten !== before || before < 1_000_000;) {
    before = session.socket.bytesWritten;
    await wait(100);
  }
  // As when the server resets it.
  stream.destroy();
  await once(stream, 'close');
  return reference;
}

/** After the call, nothing else here refers to the data. */
function beginUpload(write: (chunk: Buffer) => void): WeakRef<ArrayBufferLike> {
  const chunk = Buffer.allocUnsafeSlow(UPLOAD_BYTES);
  write(chunk);
  return new WeakRef(chunk.buffer);
}

// What a library does.
createContext();
if (process.argv.includes('process')) protectHttp2();
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
session.on('error', () => {});
if (process.argv.includes('session')) protectHttp2Session(session);
else protectHttp2Session(connect('http://127.0.0.1:9').on('error', () => {}));
await once(session, 'remoteSettings');
const reference = await cancelledUpload(session);
for (let i = 0; i < 5; i++) {
  await wait(10);
  globalThis.gc!();
}
console.log(reference.deref() ? 'kept' : 'freed');
process.exit();

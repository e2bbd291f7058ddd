import type { ServerDuplexStream } from '@grpc/grpc-js';

/** Calls back when a stream ends in any way, perhaps several times, and ends it from this side as well. */
export function onEnd<Request, Response>(call: ServerDuplexStream<Request, Response>, close: () => void): void {
  call.on('end', () => {
    close();
    call.end();
  });
  call.on('cancelled', close);
  call.on('close', close);
  call.on('error', close);
}

import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { whenDone } from '../../forward/harness.ts';

/** A client with one connection, which it keeps. */
export interface KeepAliveClient {
  /** The client's port. */
  readonly port: number;
  /** Returns the body of the response. */
  get(path: string): Promise<string>;
}

/** Connects to a server on this machine. */
export async function keepAliveClient(port: number): Promise<KeepAliveClient> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  agent.createConnection = () => socket;
  whenDone(() => agent.destroy());
  return {
    port: socket.localPort!,
    async get(path) {
      const req = request({ host: '127.0.0.1', port, path, agent }).end();
      const [res] = (await once(req, 'response')) as [IncomingMessage];
      let body = '';
      for await (const chunk of res) body += String(chunk);
      return body;
    },
  };
}

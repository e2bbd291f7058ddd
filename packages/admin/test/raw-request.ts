import { connect } from 'node:net';

/** Requests a page as a browser without Fetch metadata does; gives the response with its head. */
export function browse(port: number, path: string): Promise<string> {
  return rawRequest(port, `GET ${path} HTTP/1.1\r\nhost: localhost\r\naccept: text/html\r\nconnection: close\r\n\r\n`);
}

/** Sends bytes to a local port and gives everything that comes back until the other side closes. */
export function rawRequest(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    let response = '';
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => (response += chunk));
    socket.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ECONNRESET' ? resolve(response) : reject(error),
    );
    socket.on('close', () => resolve(response));
  });
}

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { forwardTo } from '../../src/forward/forward-to.ts';

// A server that forwards two requests to the target of its argument and closes, but says nothing to the forwarder.
const forwarder = forwardTo({ target: process.argv[2]!, rootCaFile: process.argv[3] });
const server = createServer((req, res) => forwarder(req, res, (error) => res.writeHead(500).end(String(error))));
server.listen(0, '127.0.0.1', async () => {
  const { port } = server.address() as AddressInfo;
  for (let i = 0; i < 2; i++) console.log(await (await fetch(`http://127.0.0.1:${port}`)).text());
  server.close();
  server.closeAllConnections();
});

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { createRouter } from '../../src/router.ts';
import { exchange, serve, type Serving } from '../listen/serving.ts';
import { endpointOf, hostOf, LISTENER, routeOf, snapshotOf, upstreamOf } from '../snapshots.ts';
import { mirror, onRequests, onResponses } from './served.ts';

const upper = { parseBodyBehavior: 'DontParse', body: { text: '{{ body() | upper }}' } } as const;

describe('transformed bodies at a listener', () => {
  let serving: Serving;
  let port = 0;
  const upstream = createServer((req, res) => void mirror(req, res));
  const router = createRouter({ accessLog: 'none' });
  before(async () => {
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    const options = {
      stagedTransformations: {
        regular: {
          ...onRequests({ ...upper, body: { text: '{{ body() }}{{ length(body()) }}' } }),
          ...onResponses(upper),
        },
      },
    };
    const { port: at } = upstream.address() as AddressInfo;
    router.apply(snapshotOf([hostOf([routeOf({ options })])], [upstreamOf([endpointOf(at)])]));
    serving = await serve(router.listener(LISTENER));
    port = serving.port;
  });
  after(async () => {
    await serving.close();
    await router.close();
    upstream.closeAllConnections();
    await new Promise((resolve) => upstream.close(resolve));
  });

  it('serves several requests of one connection, one after the other', async () => {
    const one = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nab';
    const two = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n';
    const last = 'POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 1\r\n\r\na';
    const { text } = await exchange(port, one + two + last);
    expect(text.match(/\r\n\r\n(\w+)/g)).to.deep.equal(['\r\n\r\nAB2HTTP', '\r\n\r\nABC3HTTP', '\r\n\r\nA1']);
  });

  it('requests the body of a client that waits for 100 Continue, and rejects a large one without it', async () => {
    const head = 'POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nExpect: 100-continue\r\n';
    const { text } = await exchange(port, `${head}Content-Length: 2\r\n\r\nab`);
    expect(text).to.match(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200 [\s\S]*AB2$/);
    const rejected = await exchange(port, `${head}Content-Length: 1048577\r\n\r\n`);
    expect(rejected.text).to.match(/^HTTP\/1.1 413 [\s\S]*PAYLOAD TOO LARGE$/);
  });
});

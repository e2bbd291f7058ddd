import { expect } from 'chai';
import { serve } from '../serving.ts';
import { http2Client } from './client.ts';
import { describeHttp2Servers } from './each-server.ts';

describeHttp2Servers('a response over HTTP/2', () => {
  for (const [name, method, status] of [
    ['to HEAD', 'HEAD', 200],
    ['with status 204', 'GET', 204],
    ['with status 205', 'GET', 205],
    ['with status 304', 'GET', 304],
  ] as const) {
    it(`${name} has no body, whatever the handler writes`, async () => {
      const serving = await serve((_req, res) => {
        res.writeHead(status, { 'x-a': '1' });
        res.write('a');
        res.end('b');
      });
      const { ask, close } = await http2Client(serving.port);
      const answer = await ask('/', { method });
      expect([answer.status, answer.headers['x-a'], answer.body]).to.deep.equal([status, '1', '']);
      close();
      await serving.close();
    });
  }
});

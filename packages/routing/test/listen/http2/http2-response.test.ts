import { expect } from 'chai';
import { serve } from '../serving.ts';
import { http2Client } from './client.ts';

describe('a response over HTTP/2', () => {
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

  it('sends no hints with a name or characters that are not allowed', async () => {
    const invalid: readonly Record<string, string>[] = [
      { link: '</a>\r\nx-forged: 1' },
      { link: '\u010d\u010a' },
      { 'x a': '1' },
      { ':path': '/' },
    ];
    const serving = await serve((_req, res) => {
      for (const hints of invalid) expect(() => res.writeEarlyHints(hints), JSON.stringify(hints)).to.throw(TypeError);
      res.writeEarlyHints({ Link: ['</a>', '</b>'] });
      res.end('done');
    });
    const { ask, close } = await http2Client(serving.port);
    const { interim, body } = await ask('/');
    expect({ interim, body }).to.deep.equal({ interim: [103], body: 'done' });
    close();
    await serving.close();
  });
});

import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import express from 'express';
import { requestFrom, withBody } from '../../src/http/auth-request.ts';

const express4 = createRequire(import.meta.url)('express4') as typeof express;

describe('the body that an auth method receives', () => {
  /** Posts a form to a server with these handlers in front, and returns the body that a method sees of it. */
  async function shown(app: express.Express, ...before: express.RequestHandler[]): Promise<string> {
    app.use(...before, async (req, res) => {
      const { body } = await withBody(requestFrom(req), 20);
      res.end(body);
    });
    const server = app.listen(0, '127.0.0.1');
    try {
      await new Promise((resolve) => server.once('listening', resolve));
      const { port } = server.address() as AddressInfo;
      const body = new URLSearchParams({ token: 'a b', n: '1' });
      return await (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body })).text();
    } finally {
      server.close();
    }
  }

  it('is restored from any earlier parser', async () => {
    const parsers = [express.urlencoded(), express.text({ type: '*/*' }), express.raw({ type: '*/*' })];
    for (const parse of parsers)
      expect([...new URLSearchParams(await shown(express(), parse))]).to.deep.equal([
        ['token', 'a b'],
        ['n', '1'],
      ]);
  });

  it('is read if an earlier parser did not consume it', async () => {
    expect(await shown(express())).to.equal('token=a+b&n=1');
    expect(await shown(express4(), express4.json())).to.equal('token=a+b&n=1');
  });

  it('is empty if an earlier parser discarded it', async () => {
    const consume: express.RequestHandler = (req, _res, next) => void req.resume().on('end', () => next());
    expect(await shown(express(), consume)).to.equal('');
  });
});

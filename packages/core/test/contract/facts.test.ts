import { expect } from 'chai';
import { createServer, request as ask, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { factsOf, type Facts } from '../../src/contract/facts.ts';

/** The facts of a request that came with these headers, flat. */
async function factsWith(headers: readonly string[]): Promise<Facts> {
  const request = await new Promise<IncomingMessage>((resolve, reject) => {
    const server = createServer((req, res) => {
      resolve(req);
      res.end();
      server.close();
    });
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      ask({ port, host: '127.0.0.1', agent: false, headers: ['Host', 'a', ...headers] as never })
        .on('response', (res) => res.resume())
        .on('error', reject)
        .end();
    });
  });
  return factsOf(request);
}

const COOKIES = ['cookie', 'a=1', 'x-list', '1', 'cookie', 'b=2', 'x-list', '2'];

describe('a header of the facts', () => {
  it('joins several Cookie headers with a semicolon, and others with a comma', async () => {
    const facts = await factsWith(COOKIES);
    expect(facts.header('Cookie')).to.equal('a=1; b=2');
    expect(facts.header('X-List')).to.equal('1, 2');
  });

  it('does so for received headers', async () => {
    const facts = await factsWith([]);
    facts.headers = COOKIES;
    expect([facts.header('cookie'), facts.header('x-list')]).to.deep.equal(['a=1; b=2', '1, 2']);
  });

  it('does so for recorded changes', async () => {
    const facts = await factsWith(COOKIES);
    facts.requestChanges.push(
      { op: 'append', name: 'cookie', value: 'c=3' },
      { op: 'append', name: 'x-list', value: '3' },
      { op: 'append', name: 'x-new', value: 'n' },
    );
    expect([facts.header('cookie'), facts.header('x-list')]).to.deep.equal(['a=1; b=2; c=3', '1, 2, 3']);
    expect(facts.header('x-new')).to.equal('n');
    facts.requestChanges.push({ op: 'remove', name: 'cookie' });
    expect(facts.header('cookie')).to.equal(undefined);
  });
});

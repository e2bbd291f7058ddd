import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { guarded, only, start, stopAll } from '../harness.ts';

const bearer = { headers: { authorization: 'Bearer opaque' } };
const settings = { requestTimeout: '30s' };
const MIB = 1_048_576;

const text = (body: string) => (res: ServerResponse) => void res.end(body);
const ANSWERS: Readonly<Record<string, (res: ServerResponse) => void>> = {
  HTML: (res) => void res.writeHead(200, { 'content-type': 'text/html' }).end('<html>{"active":true}</html>'),
  nothing: text(''),
  'half an object': text('{"active":true'),
  'two objects': text('{"active":true}{"active":true}'),
  'a list': text('[{"active":true}]'),
  null: text('null'),
  true: text('true'),
  'an object nested too deep': text(`${'{"a":'.repeat(40_000)}1${'}'.repeat(40_000)}`),
  'active as text': text('{"active":"true"}'),
  'active as number': text('{"active":1}'),
  'active inherited': text('{"__proto__":{"active":true}}'),
  'an end that is text': text('{"active":true,"exp":"4102444800"}'),
  'an end in the past': text('{"active":true,"exp":1}'),
  'an end that is none': text('{"active":true,"exp":null}'),
  'status 500 with a good body': (res) => void res.writeHead(500).end('{"active":true}'),
  'status 201 with a good body': (res) => void res.writeHead(201).end('{"active":true}'),
  'status 401': (res) => void res.writeHead(401).end(),
  'an announced body that ends early': (res) => {
    res.writeHead(200, { 'content-length': '100' }).write('{"active":true}');
    setTimeout(() => res.destroy(), 20);
  },
  'a chunked body that ends early': (res) => {
    res.write('{"active":true}');
    setTimeout(() => res.destroy(), 20);
  },
  'no HTTP': (res) => void res.socket?.end('SSH-2.0-x\r\n'),
  'a cut connection': (res) => void res.destroy(),
};

describe('accessTokenValidation with invalid responses', () => {
  afterEach(stopAll);

  for (const [what, answer] of Object.entries(ANSWERS)) {
    it(`rejects ${what}, does not cache, and allows the request after the next valid response`, async () => {
      let asked = 0;
      const introspectionUrl = await start((_req, res) =>
        ++asked === 1 ? answer(res) : void res.end('{"active":true}'),
      );
      const { ask } = await guarded(only({ oauth2: { accessTokenValidation: { introspectionUrl } } }), { settings });
      expect(await ask('/', bearer)).to.include({ status: 403, body: '' });
      expect((await ask('/', bearer)).status).to.equal(200);
      expect(asked).to.equal(2);
    });
  }

  it('stops reading a response of 10 MiB', async () => {
    let written = 0;
    const introspectionUrl = await start((_req, res) => {
      const more = (): void => {
        while (written < 10 * MIB && !res.destroyed) {
          written += MIB / 16;
          if (!res.write(' '.repeat(MIB / 16))) return void res.once('drain', more);
        }
        if (!res.destroyed) res.end('{"active":true}');
      };
      more();
    });
    const { ask } = await guarded(only({ oauth2: { accessTokenValidation: { introspectionUrl } } }), { settings });
    expect(await ask('/', bearer)).to.include({ status: 403, body: '' });
    // What was on its way is lost, but nobody waits for the end.
    expect(written).to.be.lessThan(10 * MIB);
  });

  it('applies the timeout to a slow response', async () => {
    const introspectionUrl = await start((_req, res) => {
      const timer = setInterval(() => res.write(' '), 10);
      res.on('close', () => clearInterval(timer));
    });
    const { ask } = await guarded(only({ oauth2: { accessTokenValidation: { introspectionUrl } } }), {
      settings: { requestTimeout: '100ms' },
    });
    expect(await ask('/', bearer)).to.include({ status: 403, body: '' });
  });

  it('sends no request for a malformed token', async () => {
    let asked = 0;
    const introspectionUrl = await start((_req, res) => {
      asked++;
      res.end('{"active":true}');
    });
    const { ask } = await guarded(only({ oauth2: { accessTokenValidation: { introspectionUrl } } }), { settings });
    const tooLong = 'a'.repeat(16_385);
    for (const path of [
      '/?access_token=',
      '/?access_token=a%00',
      '/?access_token=a%0d%0ab',
      '/?access_token=%ff',
      '/?access_token=a&access_token=b',
      '/?access_token=a%20b',
    ]) {
      expect((await ask(path)).status, path).to.equal(403);
    }
    expect((await ask(`/?access_token=${tooLong}`)).status).to.be.oneOf([403, 431]);
    for (const authorization of [
      'Bearer',
      'Bearer ',
      'Bearer a b',
      'Bearer a,b',
      'Bearer é',
      'Token a',
      'Bearera',
      'a',
    ]) {
      expect((await ask('/?access_token=a', { headers: { authorization } })).status, authorization).to.equal(403);
    }
    expect((await ask('/', { headers: { authorization: `Bearer ${tooLong}` } })).status).to.be.oneOf([403, 431]);
    expect(asked).to.equal(0);
    expect((await ask('/?access_token=a')).status).to.equal(200);
  });
});

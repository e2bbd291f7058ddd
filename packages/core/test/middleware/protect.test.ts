import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { expect } from 'chai';
import {
  asMiddleware,
  factsOf,
  GatewayError,
  onlyProtected,
  protect,
  runMiddleware,
  silentLoggers,
  type Concern,
  type Handler,
} from '../../src/index.ts';

const REFUSAL = new GatewayError('no token', {
  code: 'ERR_TEST',
  status: 401,
  headers: { 'www-authenticate': 'Bearer', 'content-type': 'text/plain' },
  reply: { body: 'Jwt is missing' },
});

const refuse: Handler = (_req, _res, next) => next(REFUSAL);
const pass: Handler = (_req, _res, next) => next();

/** A destination that echoes what it saw of an upgrade. */
function echo(): Handler & { readonly upgraded: IncomingMessage[] } {
  const upgraded: IncomingMessage[] = [];
  const handler: Handler = (_req, res) => void res.end('requested');
  return Object.assign(handler, {
    upgraded,
    upgrade(req: IncomingMessage, socket: Socket) {
      upgraded.push(req);
      socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: test\r\nconnection: upgrade\r\n\r\n');
      socket.end(`hello ${req.headers['x-user'] ?? ''}`);
    },
  });
}

describe('protect', () => {
  let server: Server;
  afterEach(() => new Promise((resolve) => (server.closeAllConnections(), server.close(resolve))));

  async function serve(handler: Handler): Promise<number> {
    server = createServer((req, res) => handler(req, res, () => res.writeHead(404).end()));
    if (handler.upgrade) server.on('upgrade', handler.upgrade);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  }

  /** Everything the server writes after an upgrade was asked for. */
  async function upgrade(port: number, path = '/'): Promise<string> {
    const socket = connect(port, '127.0.0.1');
    socket.write(`GET ${path} HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: test\r\nx-user: forged\r\n\r\n`);
    let text = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
    await once(socket, 'close');
    return text;
  }

  const get = (port: number): Promise<string> => fetch(`http://127.0.0.1:${port}/`).then((answer) => answer.text());

  it('runs all handlers for requests, in order', async () => {
    const seen: string[] = [];
    const note =
      (name: string): Handler =>
      (_req, _res, next) =>
        void (seen.push(name), next());
    const port = await serve(protect(note('a'), note('b'), echo()));
    expect(await get(port)).to.equal('requested');
    expect(seen).to.deep.equal(['a', 'b']);
  });

  it('runs all handlers but the last for an upgrade, then its upgrade', async () => {
    const seen: string[] = [];
    const later: Handler = (_req, _res, next) => void setTimeout(() => (seen.push('later'), next()), 5);
    const last = echo();
    const port = await serve(protect(later, (_req, _res, next) => void (seen.push('now'), next()), last));
    expect(await upgrade(port)).to.match(/^HTTP\/1\.1 101 [^]*hello forged$/);
    expect(seen).to.deep.equal(['later', 'now']);
  });

  const refusing: Record<string, Handler> = {
    'by next(error)': refuse,
    'by its own response': (_req, res) =>
      void res.writeHead(401, { 'www-authenticate': 'Bearer' }).end('Jwt is missing'),
    'by an error it throws': () => {
      throw REFUSAL;
    },
    'by a promise that rejects': (() => Promise.reject(REFUSAL)) as unknown as Handler,
    'by its own response, although it calls next, too': (_req, res, next) => {
      res.writeHead(401, { 'www-authenticate': 'Bearer' }).end('Jwt is missing');
      next();
    },
  };
  for (const [how, guard] of Object.entries(refusing)) {
    for (const place of ['first', 'second']) {
      it(`writes the rejection of the ${place} handler to the socket and closes it: ${how}`, async () => {
        const last = echo();
        const port = await serve(place === 'first' ? protect(guard, pass, last) : protect(pass, guard, last));
        const text = await upgrade(port);
        expect(text).to.match(/^HTTP\/1\.1 401 Unauthorized\r\n/);
        expect(text.toLowerCase()).to.match(/\r\nwww-authenticate: bearer\r\n/);
        expect(text.toLowerCase()).to.match(/\r\nconnection: close\r\n/);
        expect(text).to.match(/Jwt is missing/);
        expect(last.upgraded).to.have.length(0);
      });
    }
  }

  it('closes the connection if a handler throws after calling next', async () => {
    const port = await serve(
      protect(
        pass,
        (_req, _res, next) => {
          next();
          throw new Error('too late');
        },
        echo(),
      ),
    );
    expect(await upgrade(port)).to.match(/^HTTP\/1\.1 101 |^$/);
    expect(await upgrade(port)).to.match(/^HTTP\/1\.1 101 |^$/);
  });

  it('does not skip a last handler without upgrade, which may be a guard', async () => {
    const port = await serve(protect(pass, refuse));
    expect(await upgrade(port)).to.match(/^HTTP\/1\.1 401 /);
  });

  it('rejects upgrades without a handler', async () => {
    const port = await serve(protect(pass, pass));
    const text = await upgrade(port);
    expect(text).to.match(/^HTTP\/1\.1 403 /);
    expect(text).to.match(/ERR_CORE_UPGRADE/);
  });

  it('hides the cause of a failure', async () => {
    const port = await serve(
      protect(() => {
        throw new Error('the password is secret');
      }, echo()),
    );
    const text = await upgrade(port);
    expect(text).to.match(/^HTTP\/1\.1 500 /);
    expect(text).to.not.match(/secret/);
  });

  it('passes recorded header changes to the upgrade', async () => {
    const concern: Concern<object> = {
      name: 'user',
      option: 'user',
      stage: 'jwt',
      compile: () => (req, _res, next) => {
        factsOf(req).requestChanges.push({ op: 'set', name: 'x-user', value: 'alice' });
        next();
      },
    };
    const port = await serve(protect(asMiddleware(concern)({}), echo()));
    expect(await upgrade(port)).to.match(/hello alice$/);
  });

  it('adds response headers, such as renewed cookies, to the upgrade response', async () => {
    const renew: Handler = (_req, res, next) => {
      res.appendHeader('set-cookie', 'a=1').appendHeader('set-cookie', 'b=2');
      next();
    };
    const text = await upgrade(await serve(protect(renew, echo())));
    expect(text).to.match(
      /^HTTP\/1\.1 101 Switching Protocols\r\nset-cookie: a=1\r\nset-cookie: b=2\r\nupgrade: test\r\n/,
    );
    expect(text.match(/set-cookie/g)).to.have.length(2);
  });

  it('adds no headers of the response that belong to the handshake', async () => {
    const length: Handler = (_req, res, next) => {
      res.setHeader('content-length', '5').setHeader('upgrade', 'other').setHeader('x-kept', '1');
      next();
    };
    const text = await upgrade(await serve(protect(length, echo())));
    expect(text).to.match(/^HTTP\/1\.1 101 .*\r\nx-kept: 1\r\nupgrade: test\r\n/);
    expect(text).to.not.match(/content-length|other/);
  });

  it('runs the rest once if a handler calls next twice, and treats null as no error', async () => {
    let runs = 0;
    const twice: Handler = (_req, _res, next) => (next(null as never), next());
    const port = await serve(protect(twice, (_req, res) => void res.end(String(++runs))));
    expect(await (await fetch(`http://127.0.0.1:${port}`)).text()).to.equal('1');
    expect(runs).to.equal(1);
  });

  it('treats a rejection without a reason as an error', async () => {
    const last = echo();
    const port = await serve(protect((() => Promise.reject()) as unknown as Handler, last));
    expect(await upgrade(port)).to.match(/^HTTP\/1\.1 500 /);
    expect(last.upgraded).to.have.length(0);
  });

  it('adds no second response to an upgrade that throws after it started', async () => {
    const failing: Handler = Object.assign(((_req, res) => void res.end()) as Handler, {
      upgrade(_req: IncomingMessage, socket: Socket) {
        socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n');
        throw new Error('late');
      },
    });
    expect(await upgrade(await serve(protect(pass, failing)))).to.not.match(/500/);
  });

  it('works inside another chain', async () => {
    const last = echo();
    const port = await serve(protect(pass, protect(refuse, last)));
    expect(await upgrade(port)).to.match(/^HTTP\/1\.1 401 /);
    expect(last.upgraded).to.have.length(0);
  });

  it('survives a disconnect while a handler decides', async () => {
    const asked = Promise.withResolvers<() => void>();
    const last = echo();
    const port = await serve(protect((_req, _res, next) => asked.resolve(next), last));
    const socket = connect(port, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: test\r\n\r\n');
    const next = await asked.promise;
    const [gone] = await Promise.all([
      new Promise<void>((resolve) => server.getConnections(() => setTimeout(resolve, 50))),
      socket.resetAndDestroy(),
    ]);
    expect(gone).to.equal(undefined);
    next();
    expect(last.upgraded).to.have.length(0);
  });

  it('responds to an upgrade that throws', async () => {
    const failing: Handler = Object.assign(((_req, res) => void res.end()) as Handler, {
      upgrade() {
        throw new Error('secret');
      },
    });
    const text = await upgrade(await serve(protect(pass, failing)));
    expect(text).to.match(/^HTTP\/1\.1 500 /);
    expect(text).to.not.match(/secret/);
  });

  it('throws for invalid handlers', () => {
    for (const handlers of [[], [undefined], [pass, {}], [pass, null]]) {
      expect(() => protect(...(handlers as Handler[])))
        .to.throw(GatewayError)
        .with.property('code', 'ERR_CORE_MIDDLEWARE');
    }
    server = createServer();
  });

  it('rethrows errors of later handlers to the caller', () => {
    server = createServer();
    const mine = new Error('mine');
    const chain = protect(pass, pass);
    let calls = 0;
    const run = (): void =>
      chain({} as IncomingMessage, {} as never, () => {
        calls++;
        throw mine;
      });
    expect(run).to.throw(mine);
    expect(calls).to.equal(1);
  });

  it('drains and closes every handler', async () => {
    server = createServer();
    const seen: string[] = [];
    const part = (name: string): Handler =>
      Object.assign(((_req, _res, next) => next()) as Handler, {
        drain: () => void seen.push(`drain ${name}`),
        close: async () => void seen.push(`close ${name}`),
      });
    const chain = protect(part('a'), pass, part('b'));
    chain.drain();
    await chain.close();
    expect(seen).to.deep.equal(['drain a', 'drain b', 'close a', 'close b']);
  });

  describe('onlyProtected', () => {
    it('rejects an upgrade outside a chain', async () => {
      const last = echo();
      const guarded = Object.assign(((_req, res) => void res.end()) as Handler, {
        upgrade: onlyProtected(last.upgrade!, silentLoggers.get('http')),
      });
      const port = await serve(guarded);
      expect(await upgrade(port)).to.match(/^HTTP\/1\.1 403 [^]*ERR_CORE_UPGRADE/);
      expect(last.upgraded).to.have.length(0);
      server.removeAllListeners('upgrade').on('upgrade', protect(guarded).upgrade);
      expect(await upgrade(port)).to.match(/^HTTP\/1\.1 101 /);
    });
  });

  describe('runMiddleware', () => {
    async function outcomeOf(handler: Handler): Promise<unknown> {
      let outcome: Promise<unknown>;
      server = createServer((req, res) => {
        outcome = runMiddleware(handler, req, res).then(
          (passed) => {
            if (passed) res.end();
            return passed;
          },
          (error: unknown) => (res.end(), error),
        );
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      await new Promise((resolve) =>
        request({ port: (server.address() as AddressInfo).port }, (res) => res.resume().on('end', resolve)).end(),
      );
      return outcome!;
    }
    it('resolves with true for a request that continues', async () => {
      expect(await outcomeOf(pass)).to.equal(true);
    });
    it('resolves with false after a response', async () => {
      expect(await outcomeOf((_req, res) => void res.end('x'))).to.equal(false);
    });
    it('rejects with the error', async () => {
      expect(await outcomeOf(refuse)).to.equal(REFUSAL);
    });
  });
});

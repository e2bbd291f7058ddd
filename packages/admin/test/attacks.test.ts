import { expect } from 'chai';
import { createControlAdmin, createDeveloperAdmin, createProxyAdmin, type AdminServer } from '../src/index.ts';
import { controlOptions, STATE } from './control/control-sample.ts';
import { rawRequest } from './raw-request.ts';
import { listen, sampleOptions, type Asked } from './sample.ts';

const HOST = 'host: localhost\r\nconnection: close\r\n';

interface Port {
  readonly create: () => AdminServer;
  /** A request that changes something, where there is one. */
  readonly change?: string;
  readonly seen: () => string;
}

const proxyOptions = sampleOptions();
const control = controlOptions();
const PORTS: Readonly<Record<string, Port>> = {
  'proxy admin': {
    create: () => createProxyAdmin(proxyOptions),
    change: 'POST /logging?level=debug HTTP/1.1',
    seen: () => proxyOptions.context.log.level('main'),
  },
  'control-plane port': {
    create: () => createControlAdmin(control),
    change: 'PUT /logging HTTP/1.1',
    seen: () => control.loggers.level('main'),
  },
  'developer port': { create: () => createDeveloperAdmin({ state: () => STATE }), seen: () => 'info' },
};

for (const [name, { create, change = 'GET / HTTP/1.1', seen }] of Object.entries(PORTS)) {
  describe(`attacks on the ${name}`, () => {
    let port: Asked;
    before(async () => (port = await listen(create())));
    after(() => port.close());
    const body = '{"level":"debug"}';
    const send = (headers: string, request = change): Promise<string> =>
      rawRequest(port.port, `${request}\r\n${headers}content-length: ${body.length}\r\n\r\n${body}`);
    const refused = (answer: string, status: number): void => {
      expect(answer).to.match(new RegExp(`^HTTP/1\\.1 ${status} `));
      expect(seen()).to.equal('info');
    };

    const FOREIGN = [
      'evil.example',
      'evil.example:19000',
      'localhost.evil.example',
      '127.0.0.1.evil.example',
      'a@127.0.0.1',
      '[::1',
      '',
    ];
    for (const host of FOREIGN) {
      it(`refuses the Host ${JSON.stringify(host)} (DNS rebinding)`, async () => {
        refused(await send(`host: ${host}\r\nconnection: close\r\n`), 403);
      });
    }

    for (const host of ['localhost', 'LOCALHOST:80', '127.0.0.1', '127.0.0.1:19000', '[::1]:19000', '10.1.2.3']) {
      it(`takes the Host ${host}`, async () => {
        const answer = await send(`host: ${host}\r\nconnection: close\r\n`, 'GET / HTTP/1.1');
        expect(answer).to.match(/^HTTP\/1\.1 200 /);
      });
    }

    for (const origin of ['https://evil.example', 'http://localhost:1', 'null', 'http://localhost.evil.example', '']) {
      it(`refuses the Origin ${JSON.stringify(origin)} (cross-site request)`, async () => {
        refused(await send(`${HOST}origin: ${origin}\r\n`), 403);
      });
    }

    it('refuses what a page of another origin embeds, and takes links from there', async () => {
      for (const site of ['cross-site', 'same-site']) {
        const fetched = `sec-fetch-site: ${site}\r\nsec-fetch-mode: `;
        refused(await send(`${HOST}${fetched}no-cors\r\n`, 'GET / HTTP/1.1'), 403);
        const link = await send(`${HOST}${fetched}navigate\r\n`, 'GET / HTTP/1.1');
        expect(link).to.match(/^HTTP\/1\.1 200 /);
      }
    });

    it('takes the Origin of its own page', async () => {
      const answer = await send(`${HOST}origin: http://localhost\r\n`, 'GET / HTTP/1.1');
      expect(answer).to.match(/^HTTP\/1\.1 200 /);
    });

    const TRAVERSALS = [
      '/../etc/passwd',
      '/snapshots/../logging',
      '/%2e%2e/logging',
      '/..%2flogging',
      '//logging',
      '/.%00/',
      '/logging/',
      '/LOGGING',
    ];
    for (const path of TRAVERSALS) {
      it(`answers 404 at ${path} (path traversal)`, async () => {
        refused(await rawRequest(port.port, `GET ${path} HTTP/1.1\r\n${HOST}\r\n`), 404);
      });
    }

    it('refuses or ignores methods that are not for it', async () => {
      for (const method of ['DELETE', 'PATCH', 'OPTIONS', 'TRACE']) {
        refused(await rawRequest(port.port, `${method} / HTTP/1.1\r\n${HOST}\r\n`), 405);
      }
    });

    it('answers what is no HTTP with 400 and goes on', async () => {
      expect(await rawRequest(port.port, 'nonsense\r\n\r\n')).to.match(/^HTTP\/1\.1 400 /);
      expect((await port.ask('/')).status).to.equal(200);
    });

    it('refuses a head that is too large', async () => {
      const answer = await rawRequest(port.port, `GET / HTTP/1.1\r\n${HOST}x: ${'a'.repeat(20_000)}\r\n\r\n`);
      expect(answer).to.match(/^HTTP\/1\.1 431 /);
    });
  });
}

describe('bodies sent to admin ports', () => {
  let proxy: Asked;
  let controlPort: Asked;
  before(async () => {
    proxy = await listen(createProxyAdmin(proxyOptions));
    controlPort = await listen(createControlAdmin(control));
  });
  after(() => Promise.all([proxy.close(), controlPort.close()]));
  const code = (text: string): string => JSON.parse(text.slice(text.indexOf('{'))).code;

  it('refuses one that says it is too large, before it came', async () => {
    const head = `POST /logging HTTP/1.1\r\n${HOST}content-length: 1000000000\r\n\r\n`;
    expect(await rawRequest(proxy.port, head)).to.match(/^HTTP\/1\.1 413 /);
    const answer = await rawRequest(controlPort.port, head.replace('POST', 'PUT'));
    expect(answer).to.match(/^HTTP\/1\.1 413 /);
    expect(code(answer)).to.equal('ERR_ADMIN_BODY_TOO_LARGE');
  });

  it('refuses a chunked one as soon as it is too large', async () => {
    const chunk = `2000\r\n${' '.repeat(0x2000)}\r\n`;
    const answer = await rawRequest(
      controlPort.port,
      `PUT /logging HTTP/1.1\r\n${HOST}transfer-encoding: chunked\r\n\r\n${chunk}`,
    );
    expect(answer).to.match(/^HTTP\/1\.1 413 /);
  });

  it('refuses a compressed one (zip bomb)', async () => {
    const headers = { 'content-encoding': 'gzip' };
    const { status, text } = await controlPort.ask('/logging', { method: 'PUT', body: 'x', headers });
    expect([status, code(text)]).to.deep.equal([415, 'ERR_ADMIN_ENCODING_REFUSED']);
    expect((await proxy.ask('/logging', { method: 'POST', body: 'x', headers })).status).to.equal(415);
  });

  for (const body of ['{', '{"level":', 'level=debug', '{"level":"debug"} x', '\0']) {
    it(`refuses ${JSON.stringify(body)} (bad JSON) without repeating it`, async () => {
      const { status, text } = await controlPort.ask('/logging', { method: 'PUT', body });
      expect([status, code(text)]).to.deep.equal([400, 'ERR_ADMIN_BAD_BODY']);
      expect(text).not.to.contain(' at ');
      expect(control.loggers.level('main')).to.equal('info');
    });
  }

  it('does not let __proto__ in a body reach anything', async () => {
    const body = '{"__proto__":{"level":"debug"}}';
    expect((await controlPort.ask('/logging', { method: 'PUT', body })).status).to.equal(400);
  });

  it('refuses wrong methods with the right ones named', async () => {
    for (const method of ['POST', 'DELETE']) {
      const { status, headers, text } = await controlPort.ask('/logging', { method });
      expect([status, headers.get('allow'), code(text)]).to.deep.equal([
        405,
        'GET, HEAD, PUT',
        'ERR_ADMIN_METHOD_NOT_ALLOWED',
      ]);
    }
    expect((await controlPort.ask('/snapshots/input', { method: 'PUT' })).status).to.equal(405);
  });
});

describe('an admin port', () => {
  it('says who is in the way when its port is taken', async () => {
    const first = await listen(createProxyAdmin(proxyOptions));
    const second = createProxyAdmin(proxyOptions);
    const error = await second.listen(first.port).catch((thrown: unknown) => thrown);
    await first.close();
    expect(error).to.include({ code: 'ERR_ADMIN_LISTEN' });
    expect((error as Error).message).to.equal(`proxy admin: 127.0.0.1:${first.port} is in use by another program`);
  });

  it('takes a Host name that is allowed', async () => {
    const port = await listen(createProxyAdmin({ ...proxyOptions, allowedHosts: ['Gateway.internal'] }));
    const answer = await rawRequest(
      port.port,
      'GET /ready HTTP/1.1\r\nhost: gateway.internal:1\r\nconnection: close\r\n\r\n',
    );
    await port.close();
    expect(answer).to.match(/^HTTP\/1\.1 200 /);
  });

  it('responds with 500 and no details to an internal failure', async () => {
    const port = await listen(
      createProxyAdmin({
        ...proxyOptions,
        snapshot: () => {
          throw new Error('MARKER-internal');
        },
      }),
    );
    const answer = await port.ask('/clusters');
    await port.close();
    expect(answer).to.include({ status: 500, text: 'The response could not be created.\n' });
    expect(proxyOptions.lines.join('')).to.contain('admin request failed');
  });

  it('closes while clients are connected', async () => {
    const port = await listen(createProxyAdmin(proxyOptions));
    const open = rawRequest(port.port, 'GET /ready HTTP/1.1\r\nhost: localhost\r\n\r\n');
    await port.ask('/ready');
    await port.close();
    expect(await open).to.be.a('string');
  });
});

import { expect } from 'chai';
import { createControlAdmin, createDeveloperAdmin, createProxyAdmin, type AdminServer } from '../src/index.ts';
import { controlOptions, STATE } from './control/control-sample.ts';
import { rawRequest } from './raw-request.ts';
import { listen, sampleOptions, type TestPort } from './sample.ts';

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
    let port: TestPort;
    before(async () => (port = await listen(create())));
    after(() => port.close());
    const body = '{"level":"debug"}';
    const send = (headers: string, request = change): Promise<string> =>
      rawRequest(port.port, `${request}\r\n${headers}content-length: ${body.length}\r\n\r\n${body}`);
    const expectRejected = (response: string, status: number): void => {
      expect(response).to.match(new RegExp(`^HTTP/1\\.1 ${status} `));
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
      it(`rejects the Host ${JSON.stringify(host)} (DNS rebinding)`, async () => {
        expectRejected(await send(`host: ${host}\r\nconnection: close\r\n`), 403);
      });
    }

    for (const host of ['localhost', 'LOCALHOST:80', '127.0.0.1', '127.0.0.1:19000', '[::1]:19000', '10.1.2.3']) {
      it(`accepts the Host ${host}`, async () => {
        const response = await send(`host: ${host}\r\nconnection: close\r\n`, 'GET / HTTP/1.1');
        expect(response).to.match(/^HTTP\/1\.1 200 /);
      });
    }

    for (const origin of ['https://evil.example', 'http://localhost:1', 'null', 'http://localhost.evil.example', '']) {
      it(`rejects the Origin ${JSON.stringify(origin)} (cross-site request)`, async () => {
        expectRejected(await send(`${HOST}origin: ${origin}\r\n`), 403);
      });
    }

    it('rejects subresources of another origin, and accepts links from it', async () => {
      for (const site of ['cross-site', 'same-site']) {
        const fetched = `sec-fetch-site: ${site}\r\nsec-fetch-mode: `;
        expectRejected(await send(`${HOST}${fetched}no-cors\r\n`, 'GET / HTTP/1.1'), 403);
        const link = await send(`${HOST}${fetched}navigate\r\n`, 'GET / HTTP/1.1');
        expect(link).to.match(/^HTTP\/1\.1 200 /);
      }
    });

    it('accepts the Origin of its own page', async () => {
      const response = await send(`${HOST}origin: http://localhost\r\n`, 'GET / HTTP/1.1');
      expect(response).to.match(/^HTTP\/1\.1 200 /);
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
      it(`returns 404 for ${path} (path traversal)`, async () => {
        expectRejected(await rawRequest(port.port, `GET ${path} HTTP/1.1\r\n${HOST}\r\n`), 404);
      });
    }

    it('rejects unsupported methods', async () => {
      for (const method of ['DELETE', 'PATCH', 'OPTIONS', 'TRACE']) {
        expectRejected(await rawRequest(port.port, `${method} / HTTP/1.1\r\n${HOST}\r\n`), 405);
      }
    });

    it('responds to malformed HTTP with 400, and still serves', async () => {
      expect(await rawRequest(port.port, 'nonsense\r\n\r\n')).to.match(/^HTTP\/1\.1 400 /);
      expect((await port.request('/')).status).to.equal(200);
    });

    it('rejects a head that is too large', async () => {
      const response = await rawRequest(port.port, `GET / HTTP/1.1\r\n${HOST}x: ${'a'.repeat(20_000)}\r\n\r\n`);
      expect(response).to.match(/^HTTP\/1\.1 431 /);
    });
  });
}

describe('bodies sent to admin ports', () => {
  let proxy: TestPort;
  let controlPort: TestPort;
  before(async () => {
    proxy = await listen(createProxyAdmin(proxyOptions));
    controlPort = await listen(createControlAdmin(control));
  });
  after(() => Promise.all([proxy.close(), controlPort.close()]));
  const code = (text: string): string => JSON.parse(text.slice(text.indexOf('{'))).code;

  it('are rejected by their Content-Length before they arrive', async () => {
    const head = `POST /logging HTTP/1.1\r\n${HOST}content-length: 1000000000\r\n\r\n`;
    expect(await rawRequest(proxy.port, head)).to.match(/^HTTP\/1\.1 413 /);
    const response = await rawRequest(controlPort.port, head.replace('POST', 'PUT'));
    expect(response).to.match(/^HTTP\/1\.1 413 /);
    expect(code(response)).to.equal('ERR_ADMIN_BODY_TOO_LARGE');
  });

  it('are rejected as soon as a chunked one is too large', async () => {
    const chunk = `2000\r\n${' '.repeat(0x2000)}\r\n`;
    const response = await rawRequest(
      controlPort.port,
      `PUT /logging HTTP/1.1\r\n${HOST}transfer-encoding: chunked\r\n\r\n${chunk}`,
    );
    expect(response).to.match(/^HTTP\/1\.1 413 /);
  });

  it('are rejected if compressed (zip bomb)', async () => {
    const headers = { 'content-encoding': 'gzip' };
    const { status, text } = await controlPort.request('/logging', { method: 'PUT', body: 'x', headers });
    expect([status, code(text)]).to.deep.equal([415, 'ERR_ADMIN_ENCODING_REFUSED']);
    expect((await proxy.request('/logging', { method: 'POST', body: 'x', headers })).status).to.equal(415);
  });

  for (const body of ['{', '{"level":', 'level=debug', '{"level":"debug"} x', '\0']) {
    it(`are rejected as invalid JSON without being repeated: ${JSON.stringify(body)}`, async () => {
      const { status, text } = await controlPort.request('/logging', { method: 'PUT', body });
      expect([status, code(text)]).to.deep.equal([400, 'ERR_ADMIN_BAD_BODY']);
      expect(text).not.to.contain(' at ');
      expect(control.loggers.level('main')).to.equal('info');
    });
  }

  it('cannot pollute prototypes with __proto__', async () => {
    const body = '{"__proto__":{"level":"debug"}}';
    expect((await controlPort.request('/logging', { method: 'PUT', body })).status).to.equal(400);
  });

  it('are rejected for wrong methods, with the allowed ones in Allow', async () => {
    for (const method of ['POST', 'DELETE']) {
      const { status, headers, text } = await controlPort.request('/logging', { method });
      expect([status, headers.get('allow'), code(text)]).to.deep.equal([
        405,
        'GET, HEAD, PUT',
        'ERR_ADMIN_METHOD_NOT_ALLOWED',
      ]);
    }
    expect((await controlPort.request('/snapshots/input', { method: 'PUT' })).status).to.equal(405);
  });
});

describe('an admin port', () => {
  it('names the address that is in use', async () => {
    const first = await listen(createProxyAdmin(proxyOptions));
    const second = createProxyAdmin(proxyOptions);
    const error = await second.listen(first.port).catch((thrown: unknown) => thrown);
    await first.close();
    expect(error).to.include({ code: 'ERR_ADMIN_LISTEN' });
    expect((error as Error).message).to.equal(`proxy admin: 127.0.0.1:${first.port} is in use by another program`);
  });

  it('accepts an allowed Host name', async () => {
    const port = await listen(createProxyAdmin({ ...proxyOptions, allowedHosts: ['Gateway.internal'] }));
    const response = await rawRequest(
      port.port,
      'GET /ready HTTP/1.1\r\nhost: gateway.internal:1\r\nconnection: close\r\n\r\n',
    );
    await port.close();
    expect(response).to.match(/^HTTP\/1\.1 200 /);
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
    const response = await port.request('/clusters');
    await port.close();
    expect(response).to.include({ status: 500, text: 'The response could not be created.\n' });
    expect(proxyOptions.lines.join('')).to.contain('admin request failed');
  });

  it('closes while clients are connected', async () => {
    const port = await listen(createProxyAdmin(proxyOptions));
    const open = rawRequest(port.port, 'GET /ready HTTP/1.1\r\nhost: localhost\r\n\r\n');
    await port.request('/ready');
    await port.close();
    expect(await open).to.be.a('string');
  });
});

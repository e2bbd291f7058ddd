import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { createContext, factsOf, type Concern } from '@edge-gateway/core';
import type { TransformationTemplate } from '@edge-gateway/core/schema';
import { ask, onRequests, serve, stop } from './served.ts';

describe('transformations of request bodies', () => {
  afterEach(stop);

  const at = (template: TransformationTemplate, setting = {}) => serve({ regular: onRequests(template) }, setting);

  it('reads members of a JSON body, and replaces the body with its length', async () => {
    const port = await at({
      headers: { 'x-user': { text: '{{ user.name }}' } },
      body: { text: '{"id":{{ id }},"first":"{{ at(tags, 0) }}","whole":{{ body() }},"copy":{{ context() }}}' },
    });
    for (const body of [
      '{"id":7,"user":{"name":"ada"},"tags":["a","b"]}',
      ['{"id":7,"user":{"na', 'me":"ada"},"tags":["a","b"]}'],
    ]) {
      const { status, body: sent, received } = await ask(port, { body });
      expect(status).to.equal(200);
      const whole = Array.isArray(body) ? body.join('') : (body as string);
      expect(JSON.parse(sent)).to.deep.equal({ id: 7, first: 'a', whole: JSON.parse(whole), copy: JSON.parse(whole) });
      expect(received.headers).to.include({ 'x-user': 'ada', 'content-length': String(Buffer.byteLength(sent)) });
      expect(received.headers).to.not.have.property('transfer-encoding');
    }
  });

  it('sends a body that no template changes as it was', async () => {
    const port = await at({ headers: { 'x-id': { text: '{{ id }}' } } });
    const { body, received } = await ask(port, { body: ' {"id": 1} ' });
    expect(body).to.equal(' {"id": 1} ');
    expect(received.headers).to.include({ 'x-id': '1' });
  });

  it('reads UTF-8, escapes and numbers of any length exactly', async () => {
    const port = await at({ body: { text: '{{ a }}|{{ b }}|{{ c }}|{{ d }}' } });
    const { body } = await ask(port, { body: '{"a":"zoë","b":"zo\\u00eb","c":12345678901234567890,"d":1.5}' });
    expect(body).to.equal('zoë|zoë|12345678901234567890|1.5');
  });

  it('rejects a body that is not JSON, and says where', async () => {
    const port = await at({ headers: { 'x-a': { text: 'b' } } });
    const bodies: [string | Buffer, number][] = [
      ['{"a":}', 6],
      ['hello', 1],
      ['{"a":1', 7],
      [gzipSync('{"a":1}'), 0],
      [Buffer.from([0x22, 0xff, 0x22]), 0],
    ];
    for (const [body, position] of bodies) {
      const { status, body: reason, headers } = await ask(port, { body, headers: { 'content-encoding': 'gzip' } });
      expect(status).to.equal(400);
      expect(headers['content-type']).to.equal('text/plain');
      if (position > 0) expect(reason).to.equal(`bad request: the body is not JSON: unexpected byte ${position}`);
      else expect(reason).to.equal('bad request: the body is not UTF-8');
    }
  });

  it('forwards what is not JSON if errors are ignored, the body is not parsed, or it passes through', async () => {
    const headers = { 'x-length': { text: '{{ length(body()) }}' } };
    const binary = Buffer.from([0, 255, 10, 13, 128]);
    const templates: [TransformationTemplate, string][] = [
      [{ ignoreErrorOnParse: true, headers }, '5'],
      [{ parseBodyBehavior: 'DontParse', headers }, '5'],
      [{ passthrough: {}, headers }, '0'],
    ];
    for (const [template, length] of templates) {
      const { status, bytes, received } = await ask(await at(template), { body: binary });
      expect(status).to.equal(200);
      expect(bytes.equals(binary)).to.equal(true);
      expect(received.headers['x-length']).to.equal(length);
    }
  });

  it('keeps the bytes of a binary body in a template', async () => {
    const port = await at({ parseBodyBehavior: 'DontParse', body: { text: '<{{ body() }}>' } });
    const { bytes } = await ask(port, { body: Buffer.from([0, 255, 128]) });
    expect(bytes).to.deep.equal(Buffer.from([60, 0, 255, 128, 62]));
  });

  it('treats an empty body as empty JSON, and drops the content type of an empty result', async () => {
    const port = await at({ headers: { 'x-name': { text: '{{ default(name, "nobody") }}' } } });
    const { status, received } = await ask(port, { headers: { 'content-type': 'application/json' } });
    expect(status).to.equal(200);
    expect(received.headers).to.include({ 'x-name': 'nobody' }).and.not.have.property('content-type');
    const emptied = await ask(await at({ body: { text: '' } }), { body: '{}', headers: { 'content-type': 'text/a' } });
    expect(emptied.received.headers).to.not.have.property('content-type');
    expect(emptied.received.headers['content-length']).to.equal('0');
    expect(emptied.body).to.equal('');
  });

  it('adds a body to a request without one', async () => {
    const { body, received } = await ask(await at({ body: { text: '{{ header(":path") }}' } }), { path: '/a?b=c' });
    expect(body).to.equal('/a?b=c');
    expect(received.method).to.equal('GET');
  });

  it('extracts from the body, with every mode', async () => {
    const port = await at({
      parseBodyBehavior: 'DontParse',
      extractors: {
        key: { body: {}, regex: '[\\s\\S]*key=(\\w+)[\\s\\S]*', subgroup: 1 },
        masked: { body: {}, regex: '\\d', mode: 'REPLACE_ALL', replacementText: '#' },
      },
      headers: { 'x-key': { text: '{{ key }}' } },
      body: { text: '{{ masked }}' },
    });
    const { body, received } = await ask(port, { body: 'a=1\nkey=ë2\nkey=b3' });
    expect(received.headers['x-key']).to.equal('b3');
    expect(body).to.equal('a=#\nkey=ë#\nkey=b#');
  });

  it('merges extracted values into the JSON body', async () => {
    const port = await at({
      mergeExtractorsToBody: {},
      extractors: {
        'user.agent': { header: 'user-agent', regex: '.*' },
        path: { header: ':path', regex: '/(.*)', subgroup: 1 },
      },
    });
    const { body } = await ask(port, {
      body: '{"big":12345678901234567890,"user":{"id":1},"o":"\\u00eb"}',
      path: '/zoë'.replace('ë', '%C3%AB'),
      headers: { 'user-agent': 'me' },
    });
    expect(body).to.equal('{"big":12345678901234567890,"user":{"id":1,"agent":"me"},"o":"ë","path":"zo%C3%AB"}');
    expect((await ask(port, { headers: { 'user-agent': 'me' } })).body).to.equal('{"user":{"agent":"me"},"path":""}');
    for (const other of ['[1]', '"text"', '{"user":1}'])
      expect((await ask(port, { body: other })).status).to.equal(400);
  });

  it('merges templates into the JSON body', async () => {
    const jsonKeys = {
      name: { tmpl: { text: '{{ upper(name) }}' } },
      'meta.tags': { tmpl: { text: '["{{ id }}", 2]' } },
      gone: { tmpl: { text: '' } },
      empty: { tmpl: { text: '' }, overrideEmpty: true },
      '__proto__.polluted': { tmpl: { text: 'true' } },
    };
    const { body } = await ask(await at({ mergeJsonKeys: { jsonKeys } }), {
      body: '{"id":1,"name":"ada","gone":"kept"}',
    });
    expect(body).to.equal(
      '{"id":1,"name":"ADA","gone":"kept","meta":{"tags":["1",2]},"empty":"","__proto__":{"polluted":true}}',
    );
    expect({}).to.not.have.property('polluted');
  });

  it('keeps the digits of numbers that are passed on, and of values that are set', async () => {
    const port = await at({ mergeJsonKeys: { jsonKeys: { copy: { tmpl: { text: '{{ wide }}' } } } } });
    const { body } = await ask(port, { body: '{"wide":1e22,"id":-9007199254740993,"o":"\\u00eb"}' });
    expect(body).to.equal('{"wide":1e22,"id":-9007199254740993,"o":"ë","copy":1e22}');
  });

  it('rejects bodies above the buffer limit of the listener with 413', async () => {
    const port = await at(
      { headers: {} as never, body: { text: 'x' } },
      { listener: { options: { perConnectionBufferLimitBytes: 100 } } },
    );
    const large = 'x'.repeat(101);
    for (const body of [large, [large.slice(0, 50), large.slice(50)]]) {
      const { status, body: reason } = await ask(port, { body });
      expect({ status, reason }).to.deep.equal({ status: 413, reason: 'payload too large' });
    }
    const { status } = await ask(await at({ parseBodyBehavior: 'DontParse', headers: { 'x-a': { text: 'b' } } }), {
      body: 'x'.repeat(1_048_577),
    });
    expect(status).to.equal(413);
  });

  it('limits the time of templates over large bodies', async () => {
    const list = JSON.stringify({ list: Array(50_000).fill(1) });
    const port = await at({ body: { text: '{% for a in list %}{% for b in list %}x{% endfor %}{% endfor %}' } });
    const started = performance.now();
    expect((await ask(port, { body: list })).status).to.equal(400);
    expect(performance.now() - started).to.be.lessThan(2000);
    const nested = '['.repeat(400_000) + ']'.repeat(400_000);
    for (const text of ['{{ context() }}', '{{ word_count(context()) }}', 'x']) {
      const { status } = await ask(await at({ body: { text } }), { body: nested });
      expect(status).to.be.oneOf([200, 400]);
    }
  });

  it('lets later concerns read the new body', async () => {
    const seen: string[] = [];
    const reading: Concern = {
      name: 'reading',
      option: 'stagedTransformations',
      stage: 'rateLimit',
      compile: () => (req, _res, next) => {
        seen.push(String(factsOf(req).body?.bytes), req.headers['content-length']!);
        next();
      },
    };
    const port = await serve({ early: onRequests({ body: { text: 'new' } }) }, { concerns: [reading] });
    expect((await ask(port, { body: '{}' })).body).to.equal('new');
    expect(seen).to.deep.equal(['new', '3']);
  });

  it('wraps headers and body into JSON', async () => {
    const stage = (addRequestMetadata: boolean) => ({
      requestTransforms: [{ requestTransformation: { headerBodyTransform: { addRequestMetadata } } }],
    });
    const plain = await ask(await serve({ regular: stage(false) }), { body: 'zoë', headers: { 'x-a': ['1', '2'] } });
    const wrapped = JSON.parse(plain.body) as { headers: Record<string, string>; body: string };
    expect(wrapped).to.have.all.keys('headers', 'body');
    expect(wrapped.body).to.equal('zoë');
    expect(wrapped.headers).to.include({ 'x-a': '2', ':method': 'POST', ':path': '/' });
    expect(plain.received.headers['content-type']).to.equal('application/json');
    const { body } = await ask(await serve({ regular: stage(true) }), {
      path: '/p?a=1&a=%C3%AB&b',
      headers: { 'x-a': ['1', '2'] },
    });
    const { headers, ...rest } = JSON.parse(body) as Record<string, unknown>;
    expect(rest).to.deep.equal({
      queryString: 'a=1&a=%C3%AB&b',
      httpMethod: 'GET',
      path: '/p',
      queryStringParameters: { a: 'ë', b: '' },
      multiValueQueryStringParameters: { a: ['1', 'ë'] },
      multiValueHeaders: { 'x-a': ['1', '2'] },
    });
    expect(headers).to.be.an('object');
  });

  it('names the span', async () => {
    const names: unknown[] = [];
    const noting: Concern = {
      name: 'noting',
      option: 'stagedTransformations',
      stage: 'destination',
      compile: () => (req, _res, next) => {
        names.push(factsOf(req).spanName);
        next();
      },
    };
    const port = await at({ spanTransformer: { name: { text: 'order {{ id }}' } } }, { concerns: [noting] });
    await ask(port, { body: '{"id":"ë"}' });
    expect(names).to.deep.equal(['order ë']);
  });

  it('logs requests before and after, without secrets', async () => {
    const lines: string[] = [];
    const logger = {
      debug: (details: object, message: string) => void lines.push(`${message} ${JSON.stringify(details)}`),
    };
    const silent = () => {};
    const get = () => ({ info: silent, warn: silent, error: silent, fatal: silent, ...logger });
    const context = createContext({ log: { ...createContext().log, get: get as never } });
    const listener = { options: { accessLoggingService: { accessLog: [] } } };
    const template = { body: { text: '{"password":"{{ password }}","b":2}' } };
    const requestTransforms = [{ requestTransformation: { transformationTemplate: template } }];
    const send = async (port: number) =>
      ask(port, { body: '{"password":"hunter2","a":1}', path: '/?token=abc', headers: { authorization: 'Basic xyz' } });
    await send(await serve({ regular: { requestTransforms } }, { context, listener }));
    expect(lines).to.deep.equal([]);
    const logged = [
      [{ regular: { requestTransforms }, logRequestResponseInfo: true }, {}],
      [
        {
          regular: {
            requestTransforms: [
              { requestTransformation: { transformationTemplate: template, logRequestResponseInfo: true } },
            ],
          },
        },
        {},
      ],
      [{ regular: { requestTransforms } }, { logTransformations: true }],
    ] as const;
    for (const [staged, settings] of logged) {
      lines.length = 0;
      await send(await serve(staged, { context, settings, listener }));
      expect(lines).to.have.length(2);
      expect(lines[0]).to.include('request before transformation').and.include('\\"a\\":1');
      expect(lines[1]).to.include('request after transformation').and.include('\\"b\\":2');
      expect(lines.join()).to.not.match(/hunter2|xyz|\babc\b/);
    }
  });
});

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { toByteString } from '@edge-gateway/core';
import type { Dlp, DlpListener } from '@edge-gateway/core/schema';
import { ActionSet } from '../../src/dlp/action-set.ts';
import { ask, served, type Served } from '../served.ts';
import { directOf, endpointOf, start, upstreamOf } from '../snapshots.ts';

const SSN: Dlp = { actions: [{ actionType: 'SSN' }] };
const BODY = 'my number is 123-45-6789.';
const MASKED = 'my number is XXX-XX-X789.';

describe('dlp', () => {
  let gateway: Served;
  let folder: string;
  let encodings: unknown[];
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'dlp-'));
    encodings = [];
  });
  afterEach(async () => {
    await gateway.close();
    await rm(folder, { recursive: true });
  });

  const upstream = async (headers: Record<string, string> = {}, body: string | Buffer = BODY) => {
    const { port } = await start((req, res) => {
      encodings.push(req.headers['accept-encoding']);
      res.writeHead(200, { 'content-type': 'text/plain', 'x-number': '123-45-6789', ...headers }).end(body);
    });
    return [upstreamOf([endpointOf(port)])];
  };

  it('masks by patterns beyond ASCII in headers, which are UTF-8', async () => {
    const customAction = { name: 'city', regex: ['Zürich'], maskChar: '*', percent: { value: 100 } };
    const mask = new ActionSet([{ customAction }], () => {});
    const masked = mask.maskNamed('x-city', toByteString('in Zürich, Zug'));
    expect(masked).to.equal('in *******, Zug');
    gateway = await served();
  });

  it('masks bodies of upstreams and of the gateway itself', async () => {
    gateway = await served({
      options: { dlp: SSN },
      upstreams: await upstream({ 'content-length': String(BODY.length) }),
    });
    const { body, headers } = await gateway.ask('/', { headers: { 'accept-encoding': 'gzip' } });
    expect(body).equal(MASKED);
    expect(headers['x-number']).equal('123-45-6789');
    expect(encodings).deep.equal([undefined]);
    expect(gateway.stat('http.http.dlp.values_found')).equal(1);
    await gateway.close();
    gateway = await served({ routes: [directOf(BODY, { options: { dlp: SSN } })] });
    expect((await gateway.ask('/')).body).equal(MASKED);
  });

  for (const [encoding, compress] of [
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
  ] as const)
    it(`decodes a body that is compressed with ${encoding} all the same`, async () => {
      const headers = { 'content-encoding': encoding, 'accept-ranges': 'bytes' };
      gateway = await served({ options: { dlp: SSN }, upstreams: await upstream(headers, compress(BODY)) });
      const answer = await gateway.ask('/');
      expect(answer.body).equal(MASKED);
      expect(answer.headers).not.have.any.keys('content-encoding', 'accept-ranges');
    });

  it('rejects a body with an unknown encoding, and aborts an invalid one', async () => {
    gateway = await served({ options: { dlp: SSN }, upstreams: await upstream({ 'content-encoding': 'compress' }) });
    const { status, body } = await gateway.ask('/');
    expect(status).equal(502);
    expect(body).not.include('123-45');
    await gateway.close();
    gateway = await served({ options: { dlp: SSN }, upstreams: await upstream({ 'content-encoding': 'gzip' }) });
    const result = await ask(gateway.port, '/').then(
      (answer) => answer.body,
      () => 'aborted',
    );
    expect(result).equal('aborted');
  });

  it('masks whole bodies, whatever range the client requests', async () => {
    const received: unknown[] = [];
    const { port } = await start((req, res) => {
      received.push(req.headers.range, req.headers['if-range']);
      res.end(BODY);
    });
    gateway = await served({ options: { dlp: SSN }, upstreams: [upstreamOf([endpointOf(port)])] });
    const { body } = await gateway.ask('/', { headers: { range: 'bytes=0-17', 'if-range': '"x"' } });
    expect(body).equal(MASKED);
    expect(received).deep.equal([undefined, undefined]);
  });

  it('rejects a body that is encoded more than four times', async () => {
    const encoded = (times: number) => {
      const body = Array.from({ length: times }).reduce((bytes: Buffer) => gzipSync(bytes), Buffer.from(BODY));
      return upstream({ 'content-encoding': Array.from({ length: times }, () => 'gzip').join() }, body);
    };
    gateway = await served({ options: { dlp: SSN }, upstreams: await encoded(4) });
    expect((await gateway.ask('/')).body).equal(MASKED);
    await gateway.close();
    gateway = await served({ options: { dlp: SSN }, upstreams: await encoded(5) });
    expect((await gateway.ask('/')).status).equal(502);
  });

  it('masks by the first rule of the listener that matches, unless the route has its own', async () => {
    const dlp: DlpListener = {
      dlpRules: [
        { matcher: { prefix: '/none' }, actions: [] },
        { matcher: { prefix: '/', headers: [{ name: 'x-mask' }] }, actions: [{ actionType: 'SSN' }] },
      ],
    };
    gateway = await served({ http: { dlp }, upstreams: await upstream() });
    expect((await gateway.ask('/')).body).equal(BODY);
    expect((await gateway.ask('/', { headers: { 'x-mask': '1' } })).body).equal(MASKED);
    expect((await gateway.ask('/none', { headers: { 'x-mask': '1' } })).body).equal(BODY);
    await gateway.close();
    gateway = await served({ http: { dlp }, options: { dlp: { actions: [] } }, upstreams: await upstream() });
    expect((await gateway.ask('/', { headers: { 'x-mask': '1' } })).body).equal(BODY);
  });

  async function logged(parts: Parameters<typeof served>[0], path: string): Promise<string> {
    const file = join(folder, 'access.log');
    const stringFormat = '%REQ(X-Card)% %REQ(:PATH)% %REQ(:METHOD)% %RESP(X-Number)% %RESPONSE_CODE%\n';
    const accessLog = [{ fileSink: { path: file, stringFormat } }];
    gateway = await served({ ...parts, listener: { options: { accessLoggingService: { accessLog } } } });
    await gateway.ask(path, { headers: { 'x-card': '4111111111111111' } });
    await gateway.router.close();
    return (await readFile(file, 'utf8')).trim();
  }

  const byKey = {
    actionType: 'KEYVALUE',
    keyValueAction: { keyToMask: 'X-Card', maskChar: '*', percent: { value: 100 } },
  } as const;

  it('masks access logs by patterns and by names, and the headers of the response by names', async () => {
    const dlp: Dlp = { enabledFor: 'ALL', actions: [...SSN.actions!, byKey] };
    const line = await logged({ options: { dlp }, upstreams: await upstream() }, '/a?n=123456789');
    expect(line).equal('**************** /a?n=XXXXXXX89 GET XXX-XX-X789 200');
  });

  it('masks only access logs, or only bodies', async () => {
    const dlp: Dlp = { enabledFor: 'ACCESS_LOGS', actions: SSN.actions! };
    expect(await logged({ options: { dlp }, upstreams: await upstream() }, '/')).equal(
      '4111111111111111 / GET XXX-XX-X789 200',
    );
    await rm(join(folder, 'access.log'));
    expect(await logged({ options: { dlp: SSN }, upstreams: await upstream() }, '/')).equal(
      '4111111111111111 / GET 123-45-6789 200',
    );
  });

  it('masks the log of requests that no route matches, by the rules of the listener', async () => {
    const dlp: DlpListener = { enabledFor: 'ACCESS_LOGS', dlpRules: [{ actions: [byKey] }] };
    expect(await logged({ http: { dlp }, routes: [] }, '/nothing')).equal('**************** /nothing GET - 404');
  });

  it('only counts in shadow mode', async () => {
    const dlp: Dlp = {
      enabledFor: 'ALL',
      actions: [
        { actionType: 'SSN', shadow: true },
        { ...byKey, shadow: true },
      ],
    };
    expect(await logged({ options: { dlp }, upstreams: await upstream() }, '/')).equal(
      '4111111111111111 / GET 123-45-6789 200',
    );
    expect(gateway.stat('http.http.dlp.values_found')).above(1);
  });
});

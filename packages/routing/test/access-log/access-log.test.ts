import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createContext, type Context } from '@edge-gateway/core';
import { createAccessLogs, createDefaultLog } from '../../src/access-log/access-log.ts';
import { createSinks, MAX_QUEUE, type Sinks } from '../../src/access-log/sinks.ts';
import type { Collectors } from '../../src/collect/collectors.ts';
import { recordOf } from '../records.ts';
import { until } from '../../../../test/parts/until.ts';

type Options = Parameters<typeof createAccessLogs>[0]['options'];

const gateway = { name: 'gateway-proxy', namespace: 'gw-system' };
const collectors: Collectors = {
  get: () => {
    throw new Error('a file needs no collector');
  },
  keep() {},
  close: () => Promise.resolve(),
};

describe('access log', () => {
  let directory: string;
  let path: string;
  let sinks: Sinks;
  let context: Context;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'access-log-'));
    path = join(directory, 'log');
    sinks = createSinks((context = createContext()));
  });

  afterEach(async () => {
    await sinks.close();
    await rm(directory, { recursive: true });
  });

  async function logged(options: Options, records = [recordOf()]): Promise<string> {
    const logs = createAccessLogs(
      { options, gateway },
      { context: createContext(), sinks, collectors, defaultLogs: [] },
    );
    for (const record of records) for (const log of logs) log.write(record);
    await sinks.close();
    return await readFile(path, 'utf8');
  }

  const droppedLines = (file: string): number =>
    context.metrics.counter({
      path: `access_log.${file.replaceAll(/[^A-Za-z0-9_-]+/g, '_')}.lines_dropped`,
      metric: 'access_log_lines_dropped',
    }).value;

  const sinkTo = (rest: object): Options => ({
    accessLoggingService: { accessLog: [{ fileSink: { path, ...rest } }] },
  });

  it('writes the default line for a sink without format', async () => {
    expect(await logged(sinkTo({}))).to.equal(
      '[2026-01-02T03:04:05.678Z] "GET /a?x=1 HTTP/1.1" 200 - 1 2 12 - "-" "-" "-" "a.example" "10.0.0.4:80"\n',
    );
  });

  it('writes a text format unchanged, without adding a newline', async () => {
    expect(
      await logged(sinkTo({ stringFormat: '%RESPONSE_CODE% ' }), [recordOf(), recordOf({ status: 404 })]),
    ).to.equal('200 404 ');
  });

  it('writes JSON with sorted keys, original types, and null for missing values', async () => {
    const jsonFormat = { b: '%RESPONSE_CODE%', a: '%REQ(x)%', c: 'x%RESPONSE_FLAGS%', d: { e: '%PROTOCOL%' }, f: 1 };
    expect(await logged(sinkTo({ jsonFormat }))).to.equal('{"a":null,"b":200,"c":"x-","d":{"e":"HTTP/1.1"},"f":1}\n');
  });

  it('writes the default line if the format is invalid', async () => {
    expect(await logged(sinkTo({ stringFormat: '%NOPE%' }))).to.contain('"GET /a?x=1 HTTP/1.1" 200');
  });

  it('keeps to the filter', async () => {
    const filter = { statusCodeFilter: { comparison: { op: 'GE' as const, value: { defaultValue: 400 } } } };
    const fileSink = { path, stringFormat: '%RESPONSE_CODE%\n' };
    const options: Options = { accessLoggingService: { accessLog: [{ fileSink, filter }] } };
    expect(await logged(options, [recordOf(), recordOf({ status: 404 })])).to.equal('404\n');
  });

  it('writes one JSON object a request by default, without secrets of the query', async () => {
    createDefaultLog(sinks.get(path)).write(
      recordOf({ originalPath: '/cb?state=1&code=secret&access_token=t&Password=p' }),
    );
    await sinks.close();
    const line = JSON.parse(await readFile(path, 'utf8'));
    expect(line).to.deep.equal({
      time: '2026-01-02T03:04:05.678Z',
      requestId: 'id-1',
      method: 'GET',
      host: 'a.example',
      path: '/cb?state=1&code=[redacted]&access_token=[redacted]&Password=[redacted]',
      status: 200,
      route: 'r',
      virtualHost: 'v',
      upstream: 'up_gw-system',
      upstreamHost: '10.0.0.4:80',
      durationMs: 12.3,
      upstreamMs: 10.2,
      bytesReceived: 1,
      bytesSent: 2,
    });
  });

  it('writes the reason of a response by default, except that it came from an upstream', async () => {
    const log = createDefaultLog(sinks.get(path));
    for (const details of ['via_upstream', 'route_not_found']) log.write(recordOf({ details }));
    await sinks.close();
    const lines = (await readFile(path, 'utf8')).trim().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { details?: string }).details)).to.deep.equal([
      undefined,
      'route_not_found',
    ]);
  });

  it('appends to a file that is there', async () => {
    await writeFile(path, 'before\n');
    expect(await logged(sinkTo({ stringFormat: 'x\n' }))).to.equal('before\nx\n');
  });

  it('keeps a line feed in a header as part of the value', async () => {
    const text = await logged(sinkTo({ jsonFormat: { ua: '%REQ(user-agent)%' } }), [
      recordOf({ headers: ['user-agent', 'a\nb'] }),
    ]);
    expect(text.split('\n')).to.have.length(2);
  });

  it('drops lines instead of growing while nothing can be written, and counts them', async () => {
    const missing = join(directory, 'missing', 'log');
    const sink = sinks.get(missing);
    const line = 'x'.repeat(1024 * 1024);
    for (let i = 0; i < (2 * MAX_QUEUE) / line.length; i++) sink.write(line);
    expect(sink.queued).to.equal(MAX_QUEUE);
    expect(droppedLines(missing)).to.equal(MAX_QUEUE / line.length);
    await sinks.close();
    expect(droppedLines(missing)).to.equal((2 * MAX_QUEUE) / line.length);
  });

  it('writes no line if the list of logs is empty', () => {
    const defaultLogs = [createDefaultLog(sinks.get(path))];
    const logsOf = (options: Options) =>
      createAccessLogs({ options, gateway }, { context, sinks, collectors, defaultLogs });
    expect(logsOf({ accessLoggingService: { accessLog: [] } })).to.deep.equal([]);
    for (const options of [{}, { accessLoggingService: {} }]) expect(logsOf(options)).to.equal(defaultLogs);
  });

  it('continues in a new file after the old one was renamed', async () => {
    const sink = sinks.get(path);
    sink.write('1\n');
    await until(async () => (await readFile(path, 'utf8').catch(() => '')) === '1\n');
    await rename(path, `${path}.1`);
    await until(async () => {
      sink.write('2\n');
      return (await readFile(path, 'utf8').catch(() => '')).startsWith('2\n');
    });
    expect(await readFile(`${path}.1`, 'utf8')).to.match(/^1\n(?:2\n)*$/);
  });
});

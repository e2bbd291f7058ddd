import { expect } from 'chai';
import { compileFilter } from '../../src/access-log/filter.ts';
import { recordOf, type RecordParts } from '../records.ts';

type Filter = Parameters<typeof compileFilter>[0];

const status = (op: 'EQ' | 'GE' | 'LE', defaultValue: number): Filter => ({
  statusCodeFilter: { comparison: { op, value: { defaultValue } } },
});

const TABLE: readonly (readonly [name: string, filter: Filter, record: RecordParts, logged: boolean])[] = [
  ['an equal status', status('EQ', 200), { status: 200 }, true],
  ['another status', status('EQ', 200), { status: 201 }, false],
  ['a status at least', status('GE', 500), { status: 503 }, true],
  ['a status at most', status('LE', 399), { status: 404 }, false],
  [
    'a long duration',
    { durationFilter: { comparison: { op: 'GE', value: { defaultValue: 10 } } } },
    { durationMs: 12 },
    true,
  ],
  ['a header', { headerFilter: { header: { name: 'x-debug' } } }, { headers: ['x-debug', '1'] }, true],
  ['a missing header', { headerFilter: { header: { name: 'x-debug' } } }, {}, false],
  ['one of the flags', { responseFlagFilter: { flags: ['NR', 'UF'] } }, { flags: 'UF' }, true],
  ['one of several flags', { responseFlagFilter: { flags: ['URX'] } }, { flags: 'UF,URX' }, true],
  ['another flag', { responseFlagFilter: { flags: ['NR'] } }, { flags: 'UF' }, false],
  ['any flag', { responseFlagFilter: {} }, { flags: 'UF' }, true],
  ['no flag', { responseFlagFilter: {} }, {}, false],
  ['all of several', { andFilter: { filters: [status('GE', 200), status('LE', 299)] } }, { status: 404 }, false],
  ['one of several', { orFilter: { filters: [status('EQ', 404), status('EQ', 500)] } }, { status: 404 }, true],
  ['a sampled request', { traceableFilter: {} }, { trace: { traceId: 'a', spanId: 'b', sampled: true } }, true],
  [
    'a request that is not sampled',
    { traceableFilter: {} },
    { trace: { traceId: 'a', spanId: 'b', sampled: false } },
    false,
  ],
  ['a request without tracing', { traceableFilter: {} }, {}, false],
  [
    'a gRPC status',
    { grpcStatusFilter: { statuses: ['not_found', 14] } },
    { responseHeaders: ['grpc-status', '5'] },
    true,
  ],
  ['another gRPC status', { grpcStatusFilter: { statuses: ['OK'] } }, { responseHeaders: ['grpc-status', '5'] }, false],
  ['an excluded gRPC status', { grpcStatusFilter: { statuses: ['OK'], exclude: true } }, { status: 200 }, false],
  ['the gRPC status of an HTTP status', { grpcStatusFilter: { statuses: ['UNAVAILABLE'] } }, { status: 503 }, true],
  ['the gRPC status of another HTTP status', { grpcStatusFilter: { statuses: ['UNKNOWN'] } }, { status: 418 }, true],
  ['every request except health checks', { notHealthCheckFilter: {} }, {}, true],
  ['health checks', { notHealthCheckFilter: {} }, { isHealthCheck: true }, false],
];

describe('access log filter', () => {
  for (const [name, filter, record, logged] of TABLE) {
    it(`${logged ? 'logs' : 'leaves out'} ${name}`, () => {
      expect(compileFilter(filter)(recordOf(record))).to.equal(logged);
    });
  }

  it('logs a share of the requests', () => {
    const filter = { runtimeFilter: { percentSampled: { numerator: 25 } } };
    expect(compileFilter(filter, () => 0.24)(recordOf())).to.equal(true);
    expect(compileFilter(filter, () => 0.25)(recordOf())).to.equal(false);
  });

  it('samples by the request id by default', () => {
    const share = (useIndependentRandomness: boolean): Filter => ({
      runtimeFilter: { percentSampled: { numerator: 50 }, useIndependentRandomness },
    });
    const low = recordOf({ requestId: 'ffffffff-00000000' });
    const high = recordOf({ requestId: '00000000-ffffffff' });
    expect(compileFilter(share(false), () => 0.9)(low)).to.equal(true);
    expect(compileFilter(share(false), () => 0.1)(high)).to.equal(false);
    expect(compileFilter(share(true), () => 0.1)(high)).to.equal(true);
  });
});

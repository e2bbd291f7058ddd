import { shareOf, type Listener } from '@edge-gateway/core';
import type { RequestRecord } from '../format/record.ts';
import { grpcStatusNumber, grpcStatusOf } from '../format/grpc-status.ts';
import { pointOf } from '../tracing/sampling.ts';
import { allHold, compileConditions } from '../route/match/conditions.ts';

type Filter = NonNullable<
  NonNullable<NonNullable<Listener['options']['accessLoggingService']>['accessLog']>[number]['filter']
>;
type Comparison = NonNullable<Filter['statusCodeFilter']>['comparison'];

export type LogFilter = (record: RequestRecord) => boolean;

/** Compiles a filter; an unsupported one matches everything. `random` returns numbers from 0 up to 1. */
export function compileFilter(filter: Filter, random: () => number = Math.random): LogFilter {
  if (filter.statusCodeFilter) {
    const fits = compileComparison(filter.statusCodeFilter.comparison);
    return (record) => fits(record.result.status);
  }
  if (filter.durationFilter) {
    const fits = compileComparison(filter.durationFilter.comparison);
    return (record) => fits(Math.round(record.result.durationMs));
  }
  if (filter.headerFilter?.header) {
    const conditions = compileConditions({ headers: [filter.headerFilter.header] });
    return (record) => allHold(conditions, record.head);
  }
  if (filter.notHealthCheckFilter) return (record) => !record.result.isHealthCheck;
  if (filter.traceableFilter) return (record) => record.trace?.sampled === true;
  if (filter.grpcStatusFilter) return compileGrpcStatus(filter.grpcStatusFilter);
  if (filter.responseFlagFilter) return compileFlags(filter.responseFlagFilter.flags ?? []);
  if (filter.runtimeFilter) {
    const { percentSampled = {}, useIndependentRandomness = false } = filter.runtimeFilter;
    const share = shareOf(percentSampled);
    const point = useIndependentRandomness
      ? random
      : (record: RequestRecord) => pointOf(record.head.requestId) ?? random();
    return (record) => point(record) < share;
  }
  if (filter.andFilter) {
    const all = (filter.andFilter.filters ?? []).map((each) => compileFilter(each, random));
    return (record) => all.every((each) => each(record));
  }
  if (filter.orFilter) {
    const any = (filter.orFilter.filters ?? []).map((each) => compileFilter(each, random));
    return (record) => any.some((each) => each(record));
  }
  return () => true;
}

function compileGrpcStatus({ statuses = [], exclude = false }: NonNullable<Filter['grpcStatusFilter']>): LogFilter {
  const numbers = new Set(statuses.map((each) => grpcStatusNumber(String(each))));
  return (record) => numbers.has(grpcStatusOf(record)) !== exclude;
}

function compileComparison(comparison: Comparison): (value: number) => boolean {
  const bound = comparison?.value?.defaultValue ?? 0;
  if (comparison?.op === 'GE') return (value) => value >= bound;
  if (comparison?.op === 'LE') return (value) => value <= bound;
  return (value) => value === bound;
}

function compileFlags(flags: readonly string[]): LogFilter {
  if (flags.length === 0) return (record) => record.result.flags !== '';
  return (record) => record.result.flags !== '' && record.result.flags.split(',').some((flag) => flags.includes(flag));
}

import type { RouteTracing } from '@edge-gateway/core/schema';
import { compileSampling, type Sampling } from './sampling.ts';

/** Compiled tracing of a route. */
export interface CompiledRouteTracing {
  /** Name of the span; empty keeps the default. */
  readonly descriptor: string;
  /** Replaces the percentages of the listener. */
  readonly sampling: Sampling | undefined;
  readonly propagate: boolean;
}

export function compileRouteTracing(written: RouteTracing | undefined): CompiledRouteTracing | undefined {
  if (!written) return undefined;
  const { routeDescriptor = '', tracePercentages, propagate } = written;
  const sampling = tracePercentages && compileSampling(tracePercentages);
  return { descriptor: routeDescriptor, sampling, propagate: propagate !== false };
}

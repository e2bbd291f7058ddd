import { rateLimitError } from '../error-codes.ts';
import type { RateLimitCost } from '@edge-gateway/core/schema';
import type { DescribedRequest } from './request.ts';

/** Returns the cost of a request, an integer of 0 or more. */
export type CostOf = (request: DescribedRequest) => number;

const DEFAULT_MAX = 1000;
const NUMBER = /^\d+(?:\.\d+)?$/;

/**
 * Returns the function that computes costs, rounded up. A missing or invalid header, and a request without a complexity, cost 1. Throws
 * `ERR_RATE_LIMIT_ACTIONS` without a source.
 */
export function compileCost({ header, graphqlComplexity }: RateLimitCost): CostOf {
  if (header) {
    const name = (header.headerName ?? '').toLowerCase();
    const max = header.max ?? DEFAULT_MAX;
    return (request) => {
      const text = request.header(name);
      return text !== undefined && NUMBER.test(text) ? Math.min(Math.ceil(Number(text)), max) : 1;
    };
  }
  if (graphqlComplexity) return (request) => integerCost(request.graphqlComplexity);
  throw rateLimitError('ERR_RATE_LIMIT_ACTIONS', 'invalid cost: must set header or graphqlComplexity');
}

/** Returns the cost of a complexity. */
export function integerCost(complexity = 1): number {
  return complexity >= 0 ? Math.min(Math.ceil(complexity), Number.MAX_SAFE_INTEGER) : 1;
}

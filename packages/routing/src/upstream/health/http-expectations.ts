import type { Counter } from '@edge-gateway/core';
import type { HealthCheck } from './health-spec.ts';
import { activeFailure, type CheckResult } from './probe.ts';
import { compileAssertions, type CheckedResponse } from './response-assertions.ts';

type HttpCheck = NonNullable<HealthCheck['httpHealthCheck']>;

/** The request of a check; headers are flat and include `host`. */
export interface CheckRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly string[];
}

/** The rules for the response to a check. */
export interface HttpExpectations {
  readonly readsBody: boolean;
  check(status: number, response: CheckedResponse): CheckResult;
}

const OK_ONLY = [{ start: 200, end: 201 }];
const SERVED_CLUSTER = 'x-envoy-upstream-healthchecked-cluster';

/** Compiles the expected statuses, the name of the service, and the assertions. `verified` counts checks of the name. */
export function compileExpectations(check: HttpCheck, verified: Counter): HttpExpectations {
  const { expectedStatuses, serviceName } = check;
  const ranges = expectedStatuses && expectedStatuses.length > 0 ? expectedStatuses : OK_ONLY;
  const isExpected = (status: number): boolean =>
    ranges.some(({ start = 0, end = 0 }) => status >= start && status < end);
  const assertions = check.responseAssertions && compileAssertions(check.responseAssertions);

  function nameProblem({ headers }: CheckedResponse): string | undefined {
    if (!serviceName) return undefined;
    verified.value++;
    const served = String(headers[SERVED_CLUSTER] ?? '');
    return served.startsWith(serviceName) ? undefined : `the response is from service "${served}"`;
  }

  return {
    readsBody: assertions?.readsBody ?? false,
    check(status, response) {
      if (!isExpected(status)) return activeFailure(`status ${status}`);
      const problem = nameProblem(response);
      if (problem !== undefined) return activeFailure(problem);
      const result = assertions?.check(response) ?? 'healthy';
      return result === 'healthy' && response.headers['x-envoy-degraded'] !== undefined ? 'degraded' : result;
    },
  };
}

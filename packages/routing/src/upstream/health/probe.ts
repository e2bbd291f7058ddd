import type { Connector } from '../connector.ts';
import type { CheckFailureType } from './health-state.ts';

/** A failed check. */
export interface CheckFailure {
  readonly type: CheckFailureType;
  /** For the log. */
  readonly reason: string;
}

/** The result of a check. `degraded` endpoints only get requests that healthy ones cannot serve. */
export type CheckResult = 'healthy' | 'degraded' | CheckFailure;

/** Runs the checks of one endpoint, one at a time. */
export interface Probe {
  /** Starts a check. Calls `done` once, unless it is cancelled before. */
  run(done: (result: CheckResult) => void): void;
  /** Aborts the check in progress and closes its connection. */
  cancel(): void;
  /** Closes the connection that is kept for the next check. */
  close(): void;
}

/** What a probe knows of its endpoint. */
export interface ProbeTarget {
  readonly connect: Connector;
  /** True if the connection uses TLS. */
  readonly tls: boolean;
  /** `Host` of a check, if the endpoint has its own. */
  readonly hostname: string | undefined;
  /** That of an endpoint without its own, if the check has none. */
  readonly declaredHost: string | undefined;
  readonly path: string | undefined;
  readonly method: string | undefined;
}

/** A failure of the connection, which counts towards `unhealthyThreshold`. */
export function networkFailure(error: Error): CheckFailure {
  const { code } = error as NodeJS.ErrnoException;
  return { type: 'NETWORK', reason: [code, error.message].filter(Boolean).join(' ') };
}

/** A response that makes the endpoint unhealthy at once. */
export function activeFailure(reason: string): CheckFailure {
  return { type: 'ACTIVE', reason };
}

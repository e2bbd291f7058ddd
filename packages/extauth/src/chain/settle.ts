import { STATUS_CODES } from 'node:http';
import {
  logRejection,
  withPage,
  type AuthAllowed,
  type AuthDecision,
  type AuthDenied,
  type Context,
  type HeaderChange,
} from '@edge-gateway/core';
import { createAuthStats } from './auth-stats.ts';
import { clientStatusOf } from './failure.ts';
import { checkSendable, requestChangesOf } from './grants.ts';
import type { AuthSettings } from '../settings.ts';

/** The response to a rejected request. */
export interface Refusal extends Required<Pick<AuthDenied, 'status' | 'headers' | 'body' | 'reason'>> {
  /** `ext_authz_denied`, or `ext_authz_error` if there was no decision. */
  readonly details: string;
  /** Response flag of access logs: `UAEX`, also if there was no decision. */
  readonly flags: string;
}

/** What happens to a request: the upstream receives it with the grants, or the client gets the response. */
export type Outcome =
  | { readonly allowed: true; readonly granted: AuthAllowed }
  | { readonly allowed: false; readonly refusal: Refusal };

/** A request whose decision is settled. */
export interface Settled {
  readonly requestId: string;
  /** Cluster of the route. Default: none. */
  readonly upstream?: string;
  /** True if the client disconnected. */
  hasLeft(): boolean;
}

interface SettlementParts {
  readonly settings: AuthSettings;
  readonly context: Context;
  /** `<namespace>.<name>` of the AuthConfig. */
  readonly id: string;
}

/** Creates the function that turns the decisions of a chain into outcomes, by the settings for failures, and logs and counts them. */
export function createSettlement({ settings, context, id }: SettlementParts) {
  const stats = createAuthStats(context.metrics, settings.statPrefix);
  const log = context.log.get('ext_authz');

  /** Throws `ERR_EXTAUTH_CONFIG` if a header of the decision cannot be sent. */
  function settle(decision: AuthDecision, { requestId, upstream = '', hasLeft }: Settled): Outcome {
    if (decision.allowed) {
      checkSendable([...requestChangesOf(decision, settings), ...(decision.responseChanges ?? [])]);
      stats.count('ok', upstream);
      return { allowed: true, granted: decision };
    }
    if (!isFailure(decision)) {
      checkSendable(changesOf(decision));
      const { status, headers = [], body = '', reason, outcome } = withPage(decision, context.pages, requestId);
      stats.count(outcome ? 'error' : 'denied', upstream);
      // The redirects of a login are not rejections.
      const message = status < 400 ? 'response sent by auth chain' : 'request rejected';
      logRejection(log, { requestId, config: id, status, reason }, message);
      const details = outcome ? 'ext_authz_error' : 'ext_authz_denied';
      return { allowed: false, refusal: { status, headers, body, reason, details, flags: 'UAEX' } };
    }
    stats.count('error', upstream);
    // Otherwise a client could cause a failure that is allowed, e.g. by disconnecting.
    if (settings.failureModeAllow && decision.outcome === 'serverFailure' && !hasLeft()) {
      stats.count('failure_mode_allowed', upstream);
      return { allowed: true, granted: { allowed: true } };
    }
    const { statusOnError: status } = settings;
    const { reason } = decision;
    const refusal = { status, headers: [], body: '', reason, details: 'ext_authz_error', flags: 'UAEX' };
    return { allowed: false, refusal };
  }

  return {
    settle,
    /** Settles an error outside the steps: the client or a defect caused it, because no server was called. */
    fail(error: unknown, settled: Settled): Outcome {
      const decision = failureOf(error);
      const level = settled.hasLeft() ? 'debug' : isFailure(decision) ? 'error' : 'info';
      log[level]({ requestId: settled.requestId, config: id, err: error }, 'external auth failed');
      return settle(decision, settled);
    },
  };
}

function failureOf(error: unknown): AuthDenied {
  const status = clientStatusOf(error);
  if (status === undefined) return { allowed: false, status: 403, reason: 'external auth failed', outcome: 'defect' };
  return {
    allowed: false,
    status,
    body: STATUS_CODES[status] ?? '',
    reason: (error as Error).message,
    outcome: 'indeterminate',
  };
}

const isFailure = ({ outcome }: AuthDenied): boolean => outcome === 'serverFailure' || outcome === 'defect';

function changesOf({ headers = [] }: AuthDenied): HeaderChange[] {
  return headers.flatMap((name, i) => (i % 2 === 0 ? [{ op: 'append', name, value: headers[i + 1] ?? '' }] : []));
}

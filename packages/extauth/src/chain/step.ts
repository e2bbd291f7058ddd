import {
  startTimer,
  type AuthDecision,
  type AuthDenied,
  type AuthMethod,
  type AuthRequest,
  type Logger,
} from '@edge-gateway/core';
import { clientStatusOf, isServerFailure } from './failure.ts';

/** Limit and names of a step. `timeoutMs` does not apply to methods that call no server. */
type StepParts = { readonly timeoutMs: number; readonly log: Logger; readonly config: string; readonly step: string };

/** Runs one step. Never rejects: a step that throws or takes too long has failed, which never allows the request by itself. */
export async function runStep(method: AuthMethod, request: AuthRequest, parts: StepParts): Promise<AuthDecision> {
  const { timeoutMs, log, config, step } = parts;
  const { requestId } = request;
  try {
    if (method.local) return await method.authorize(request);
    return await within(timeoutMs, request, method);
  } catch (error) {
    if (error === TOO_SLOW) {
      log.warn(
        { requestId, config, step, timeoutMs },
        'auth step took longer than spec.extauth.requestTimeout of the Settings; raise it if the step needs more time',
      );
      return failed('the step took too long', 'serverFailure');
    }
    if (request.signal?.aborted) {
      log.debug({ requestId, config, step }, 'the client disconnected before the auth step completed');
      return failed('the client disconnected', 'defect');
    }
    const status = clientStatusOf(error);
    if (status !== undefined) {
      log.info({ requestId, config, step, err: error }, 'request cannot be evaluated');
      const headers = status === 429 ? ['retry-after', '1'] : [];
      return { allowed: false, status, headers, outcome: 'indeterminate', reason: (error as Error).message };
    }
    log.error({ requestId, config, step, err: error }, 'auth step failed');
    return failed('the step failed', isServerFailure(error) ? 'serverFailure' : 'defect');
  }
}

const TOO_SLOW = Symbol('too slow');

function failed(reason: string, outcome: AuthDenied['outcome']): AuthDenied {
  return { allowed: false, status: 403, reason, outcome };
}

async function within(timeoutMs: number, request: AuthRequest, method: AuthMethod): Promise<AuthDecision> {
  const over = new AbortController();
  const signal = request.signal ? AbortSignal.any([request.signal, over.signal]) : over.signal;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    // oxlint-disable-next-line prefer-promise-reject-errors
    timer = startTimer(() => reject(TOO_SLOW), timeoutMs);
  });
  try {
    return await Promise.race([method.authorize({ ...request, signal }), late]);
  } catch (error) {
    over.abort(error === TOO_SLOW ? new DOMException('the step took too long', 'TimeoutError') : undefined);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

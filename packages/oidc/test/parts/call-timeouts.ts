/** The limit of a call to a provider, in milliseconds. */
const CALL_MS = 5000;

/** Calls to providers that time out when a test says so, instead of after five seconds. */
export interface CallTimeouts {
  /** Ends all calls in progress as their limit does. */
  expire(): void;
  restore(): void;
}

/** Replaces the limit of calls to providers until `restore`. */
export function holdCallTimeouts(): CallTimeouts {
  const { timeout } = AbortSignal;
  const calls = new Set<AbortController>();
  AbortSignal.timeout = (ms) => {
    if (ms !== CALL_MS) return timeout.call(AbortSignal, ms);
    const call = new AbortController();
    calls.add(call);
    return call.signal;
  };
  return {
    expire() {
      for (const call of calls) call.abort(new DOMException('The operation timed out', 'TimeoutError'));
      calls.clear();
    },
    restore: () => void (AbortSignal.timeout = timeout),
  };
}

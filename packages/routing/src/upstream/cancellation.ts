const cancelled = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls `cancel` when the signal is aborted, unless {@link forgetCancel} comes first. Many calls share one signal: they are kept
 * in a set behind one listener, which costs a fraction of a listener each.
 */
export function onCancel(signal: AbortSignal, cancel: () => void): void {
  let cancels = cancelled.get(signal);
  if (!cancels) {
    const made = new Set<() => void>();
    signal.addEventListener('abort', () => made.forEach((each) => each()), { once: true });
    cancelled.set(signal, (cancels = made));
  }
  cancels.add(cancel);
}

export function forgetCancel(signal: AbortSignal, cancel: () => void): void {
  cancelled.get(signal)?.delete(cancel);
}

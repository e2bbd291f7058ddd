import type { Handler, Next } from '@edge-gateway/core';
import type { Upstream } from '../upstream/upstream.ts';
import { applyRequestChanges } from './outgoing-request.ts';
import type { RoutedRequest } from './routed-request.ts';

interface PostRouting {
  readonly handlers: readonly Handler[];
  readonly upstream: Upstream;
}

/** Chooses the endpoint, runs the handlers of `postRouting` on the head that is sent to it, and then calls `forward`. */
export function runPostRouting(request: RoutedRequest, { handlers, upstream }: PostRouting, forward: () => void): void {
  const { head, req, res } = request;
  const facts = request.facts!;
  request.endpoint ??= upstream.pick(request.pickContext);
  facts.hostMetadata = request.endpoint?.metadata;
  facts.routedPath = facts.path;
  facts.path = head.path;
  facts.method = head.method;
  facts.headers = head.headers;

  const fail = (error: unknown): void => request.fail({ passOn: undefined }, error);

  function run(i: number): void {
    const handler = handlers[i];
    if (!handler) return finish();
    let called = false;
    const next: Next = (error) => {
      if (called || request.finished) return;
      called = true;
      if (error === undefined) attempt(() => run(i + 1));
      else fail(error);
    };
    attempt(() => {
      const pending = handler(req, res, next) as unknown;
      if (pending instanceof Promise) pending.catch((error: unknown) => next(error ?? new Error('rejected')));
    });
  }

  function attempt(step: () => void): void {
    try {
      step();
    } catch (error) {
      fail(error);
    }
  }

  function finish(): void {
    head.applyFacts(facts);
    applyRequestChanges(head.headers, facts);
    // The route is chosen already.
    facts.reroute = false;
    forward();
  }

  run(0);
}

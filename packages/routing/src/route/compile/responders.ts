import type { ActionKind, Context, Responder, Route, Scope } from '@edge-gateway/core';

/** Compiles the actions that packages bring to the routes of one virtual host. */
export interface ResponderCompiler {
  /** Throws what the package throws, and where no package brings the action. */
  compile(route: Route): Responder;
  /** Every responder made so far. */
  readonly responders: ReadonlySet<Responder>;
}

/** What the actions of a virtual host are compiled with. */
export interface ResponderEnvironment {
  readonly actions: readonly ActionKind[];
  readonly context: Context;
  readonly scope: Scope;
}

/** Makes a compiler. */
export function createResponderCompiler({ actions, context, scope }: ResponderEnvironment): ResponderCompiler {
  const responders = new Set<Responder>();
  return {
    responders,
    compile(route) {
      const kind = actions.find(({ action }) => action === route.action.type);
      if (!kind) throw new Error(`no handler for route action ${route.action.type}`);
      const responder = kind.compile(route.action, context, { ...scope, route });
      responders.add(responder);
      return responder;
    },
  };
}

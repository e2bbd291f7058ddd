import type { ActionKind, Context, Listener, Snapshot, VirtualHost } from '@edge-gateway/core';
import { compileSettings } from '../route/compile/listener.ts';
import { compileVirtualHost, type CompiledHost } from '../route/compile/virtual-host.ts';
import { createDomainIndex } from '../route/match/domain.ts';
import type { RouteTable } from '../route/route-request.ts';
import { earlyTransformationConcern, regularTransformationConcern } from '../transform/concern.ts';

/** Nothing is answered here; that something would is enough to explain it. */
const EXPLAINED_ACTIONS: readonly ActionKind[] = [{ action: 'graphql', compile: () => () => {} }];
/** Compiled so that a route of which one cannot be is known; what they do is explained step by step. */
const CONCERNS = [earlyTransformationConcern, regularTransformationConcern];

/** What a route table is made from. */
export interface TableParts {
  readonly snapshot: Snapshot;
  readonly listener: Listener;
  readonly context: Context;
}

/** Returns the route table of a listener. It compiles a virtual host when a request first needs it. */
export function createExplainedTable({ snapshot, listener, context }: TableParts): RouteTable {
  const { settings, failed } = compileSettings(listener);
  const environment = {
    actions: EXPLAINED_ACTIONS,
    concerns: CONCERNS,
    context,
    settings,
    shared: snapshot.settings,
    mostSpecificWins: listener.routeOptions.mostSpecificHeaderMutationsWins === true,
  };
  const compiled = new Map<VirtualHost, CompiledHost>();
  const find = createDomainIndex(
    listener.virtualHosts.flatMap((value) => value.domains.map((domain) => ({ domain, value }))),
  );
  return {
    settings,
    failed,
    findHost(authority) {
      const found = find(authority);
      if (!found) return undefined;
      const { domain, value: source } = found;
      let host = compiled.get(source);
      if (!host) compiled.set(source, (host = compileVirtualHost(source, environment)));
      return { domain, value: host };
    },
  };
}

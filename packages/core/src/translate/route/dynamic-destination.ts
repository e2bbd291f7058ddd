import type { Destination, DynamicDestination } from '../../contract/snapshot.ts';
import type { ForwardAction } from '../../schema/route/route.ts';

/** Returns the destination of an action whose upstream each request chooses; `undefined` for other actions. */
export function dynamicDestination({ clusterHeader, dynamicForwardProxy }: ForwardAction): Destination | undefined {
  if (clusterHeader) {
    const header = clusterHeader.toLowerCase();
    return destination(`cluster-header:${header}`, { type: 'clusterHeader', header });
  }
  if (!dynamicForwardProxy) return undefined;
  const { hostRewrite, autoHostRewriteHeader: hostRewriteHeader } = dynamicForwardProxy;
  return destination('dynamic_forward_proxy', {
    type: 'host',
    ...(hostRewrite && { hostRewrite }),
    ...(hostRewriteHeader && { hostRewriteHeader }),
  });
}

function destination(upstream: string, dynamic: DynamicDestination): Destination {
  return Object.freeze({ upstream, dynamic: Object.freeze(dynamic), weight: 1, options: Object.freeze({}) });
}

import type { RecordedRoute } from '../format/record.ts';
import { EMPTY_PLAN, type CompiledDestination, type Plan } from '../route/compile/route.ts';
import type { CompiledHost, MatchedRoute } from '../route/compile/virtual-host.ts';
import type { RouteEntry } from '../route/match/route-index.ts';

/** What was decided of a request. */
export class RequestRoute implements RecordedRoute {
  host: CompiledHost | undefined;
  entry: RouteEntry<MatchedRoute> | undefined;
  plan: Plan = EMPTY_PLAN;
  destination: CompiledDestination | undefined;

  get routeName(): string {
    return this.entry?.route.name ?? '';
  }

  get virtualHost(): string {
    return this.host?.source.name ?? '';
  }

  get upstream(): string {
    return this.destination?.upstream ?? '';
  }
}

import type { Context, SnapshotSettings } from '@edge-gateway/core';
import { DEFAULTS, httpListenersOf, type Snapshot } from '@edge-gateway/core';
import {
  explainLimits,
  explainLocalLimits,
  type ExplainedLimits,
  type ExplainedLocalLimits,
} from '@edge-gateway/rate-limit';
import type { Explanation, RequestToExplain } from '@edge-gateway/routing';
import {
  explainWithAccess,
  type AuthEvaluation,
  type ExplainedRequest,
  type LimitedRoute,
  type LimitStage,
} from './access.ts';

/** The rate limits of a request. Plain data. */
export interface LimitsExplanation {
  readonly request: Explanation['request'];
  /** Missing if no virtual host matches the request. */
  readonly virtualHost?: string;
  /** Missing if no route matches the request. */
  readonly route?: string;
  /** Missing if there are none. */
  readonly local?: ExplainedLocalLimits;
  /** Stages with limits, in order. */
  readonly stages: readonly ExplainedLimits[];
  /** Why stages after authentication are missing. */
  readonly endsBefore?: string;
}

/** What limits are explained with. */
interface LimitsInput {
  readonly snapshot: Snapshot;
  readonly context: Context;
  /** Claims of an assumed verified token. */
  readonly claims: Readonly<Record<string, unknown>> | undefined;
  /** Assumed to be the authenticated user. */
  readonly user: string | undefined;
  readonly auth: AuthEvaluation;
}

/** An explained request with its rate limits. */
export type ExplainedLimitedRequest = Pick<ExplainedRequest, 'explanation' | 'granted'> & {
  readonly limits: LimitsExplanation;
};

/** Explains the rate limits of a request, and the explanation of its route. */
export async function explainRequestLimits(
  request: Omit<RequestToExplain, 'admit'>,
  { snapshot, context, claims, user, auth }: LimitsInput,
): Promise<ExplainedLimitedRequest> {
  const stages = new Map<LimitStage, ExplainedLimits | undefined>();
  const found: { place?: LimitedRoute } = {};
  const atLimits = (stage: LimitStage, reached: LimitedRoute): void => {
    found.place = reached;
    // A request whose external auth was evaluated passes the stages again.
    if (stage === 'rateLimitEarly') stages.clear();
    const { virtualHost, route, facts } = reached;
    const settings = settingsOf(snapshot, virtualHost);
    if (stage === 'rateLimit' && user !== undefined)
      facts.requestChanges.push({ op: 'set', name: userHeaderOf(settings), value: user });
    stages.set(stage, explainLimits({ stage, scope: { virtualHost, route, settings }, facts }));
  };
  const { explanation, granted } = await explainWithAccess(request, { snapshot, context, claims, auth, atLimits });
  const { place } = found;
  const listener = place && listenerOf(snapshot, place.virtualHost);
  const local = place && listener && explainLocalLimits({ ...place, listener });
  const isStopped = place !== undefined && !stages.has('rateLimit');
  const { outcome } = explanation;
  const limits: LimitsExplanation = {
    request: explanation.request,
    ...(explanation.virtualHost && { virtualHost: explanation.virtualHost.name }),
    ...(place && { route: place.route.name }),
    ...(local && { local }),
    stages: Array.from(stages.values()).filter((each) => each !== undefined),
    ...(isStopped && outcome.type === 'reply' && { endsBefore: `${outcome.status} (${outcome.reason})` }),
  };
  return { explanation, granted, limits };
}

type Host = LimitedRoute['virtualHost'];

function listenerOf({ listeners }: Snapshot, host: Host) {
  return httpListenersOf(listeners).find(({ virtualHosts }) => virtualHosts.includes(host));
}

/** The settings with the server of the listener, which replaces theirs. */
function settingsOf(snapshot: Snapshot, host: Host): SnapshotSettings {
  const { extauth, ratelimitServer } = listenerOf(snapshot, host)?.httpOptions ?? {};
  return { ...snapshot.settings, ...(extauth && { extauth }), ...(ratelimitServer && { ratelimitServer }) };
}

function userHeaderOf({ extauth }: SnapshotSettings): string {
  return (extauth?.userIdHeader || DEFAULTS.userIdHeader).toLowerCase();
}

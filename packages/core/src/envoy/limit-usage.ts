import type { Route, SnapshotSettings, VirtualHost } from '../contract/snapshot.ts';
import type { RateLimitActions, RateLimitVhost } from '../schema/route/rate-limit.ts';
import type { Level } from './level.ts';
import { localLimitIn } from './local-limits.ts';

type Limited = VirtualHost['options'] & Route['options'];

/** When limits apply: before auth, or after it. */
export type LimitMoment = 'early' | 'regular';

/** Names of what levels use: limits at the moment that the Settings define, and local limits. Others are named by their moment. */
const USUAL = 'usual';
export const LOCAL_USAGE = 'localRatelimit';

/** Returns the limits that a level uses, by moment, with a name for local limits. */
export function limitUsageOf(level: Level): string[] {
  const moments = familiesOf(level as Limited).flatMap(({ moment, limits, refs }) =>
    limits.length + refs.length > 0 ? [moment] : [],
  );
  return [
    ...moments,
    ...((level as Limited).ratelimitBasic ? [USUAL] : []),
    ...(localLimitIn(level as Limited) ? [LOCAL_USAGE] : []),
  ];
}

/** Returns the moments at which levels limit requests. */
export function limitMomentsOf(usage: ReadonlySet<string>, settings: SnapshotSettings): ReadonlySet<LimitMoment> {
  const own = (['early', 'regular'] as const).filter((moment) => usage.has(moment));
  return new Set(usage.has(USUAL) ? [...own, usualMoment(settings)] : own);
}

/** The limits of one level that apply at a moment. */
export interface LimitBlock {
  readonly moment: LimitMoment;
  readonly limits: readonly RateLimitActions[];
  readonly refs: readonly { readonly name?: string; readonly namespace?: string }[];
}

/** Returns the blocks of one level with the moment at which they apply. */
export function limitBlocksOf(level: Limited, settings: SnapshotSettings): LimitBlock[] {
  const usual = usualMoment(settings);
  const blocks = familiesOf(level).flatMap(({ moment, limits, refs }): LimitBlock[] =>
    limits.length + refs.length > 0 ? [{ moment: moment === USUAL ? usual : moment, limits, refs }] : [],
  );
  return level.ratelimitBasic ? [{ moment: usual, limits: [], refs: [] }, ...blocks] : blocks;
}

/** Returns when limits without a stage of their own apply. */
export function usualMoment({ ratelimitServer }: SnapshotSettings): LimitMoment {
  return ratelimitServer?.rateLimitBeforeAuth ? 'early' : 'regular';
}

interface Family extends Pick<LimitBlock, 'limits' | 'refs'> {
  readonly moment: LimitMoment | typeof USUAL;
}

function familiesOf(level: Limited): Family[] {
  const families = [
    [USUAL, level.ratelimit, level.rateLimitConfigs],
    ['early', level.ratelimitEarly, level.rateLimitEarlyConfigs],
    ['regular', level.ratelimitRegular, level.rateLimitRegularConfigs],
  ] as const;
  return families.map(([moment, block, configs]) => ({
    moment,
    limits: (block as RateLimitVhost | undefined)?.rateLimits ?? [],
    refs: configs?.refs ?? [],
  }));
}

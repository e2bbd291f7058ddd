import type { Stage } from '@edge-gateway/core';
import type { ExtProc } from '@edge-gateway/core/schema';

type FilterStage = NonNullable<ExtProc['filterStage']>;
type Name = NonNullable<FilterStage['stage']>;
type Predicate = NonNullable<FilterStage['predicate']>;

/** The stages of the chain at whose beginning a server can be called, by stage and predicate of the block. */
const SLOTS: Readonly<Record<Name, Readonly<Record<Predicate, Stage>>>> = {
  FaultStage: { Before: 'fault', During: 'fault', After: 'cors' },
  CorsStage: { Before: 'cors', During: 'cors', After: 'localRateLimit' },
  WafStage: { Before: 'localRateLimit', During: 'localRateLimit', After: 'localRateLimit' },
  AuthNStage: { Before: 'jwtBeforeExtAuth', During: 'extAuth', After: 'earlyTransformation' },
  AuthZStage: { Before: 'jwt', During: 'rbac', After: 'rateLimit' },
  RateLimitStage: { Before: 'rateLimit', During: 'rateLimit', After: 'regularTransformation' },
  AcceptedStage: { Before: 'regularTransformation', During: 'regularTransformation', After: 'headerManipulation' },
  OutAuthStage: { Before: 'headerManipulation', During: 'headerManipulation', After: 'destination' },
  RouteStage: { Before: 'destination', During: 'destination', After: 'destination' },
};

/** Every stage at which a server can be called. */
export const SLOT_STAGES: readonly Stage[] = [
  ...new Set(Object.values(SLOTS).flatMap((slots) => Object.values(slots))),
];

/** Returns the stage at whose beginning the server of a block is called. */
export function slotOf({ stage = 'AcceptedStage', predicate = 'During' }: FilterStage): Stage {
  return SLOTS[stage][predicate];
}

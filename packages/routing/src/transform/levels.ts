import { stagesOf } from '@edge-gateway/core';
import type { StagedTransformations, Transformations } from '@edge-gateway/core/schema';

interface Level {
  readonly stagedTransformations?: StagedTransformations;
  readonly transformations?: Transformations;
}

/**
 * The transformations that hold: those of the most specific level that has any, for all stages. The same object for the
 * same level.
 */
export function pickTransformations(levels: readonly object[]): StagedTransformations | undefined {
  const level = levels.findLast(({ stagedTransformations, transformations }: Level) => {
    return stagedTransformations !== undefined || transformations !== undefined;
  });
  return level && stagesOf(level);
}

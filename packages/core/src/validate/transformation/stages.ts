import type {
  StagedTransformations,
  TransformationStage,
  TransformationTemplate,
  Transformations,
} from '../../schema/route/transformations.ts';

/** The transformation options of a level. */
export interface HasTransformations {
  readonly stagedTransformations?: StagedTransformations | undefined;
  readonly transformations?: Transformations | undefined;
}

/** By the deprecated block, then by the staged one. */
const made = new WeakMap<object, WeakMap<object, StagedTransformations>>();
const NOT_STAGED = {};

/**
 * Returns the transformations of one level by stage, the deprecated form as stage `regular` unless that is set. Returns the same object
 * for the same blocks; `undefined` if there are none.
 */
export function stagesOf({
  stagedTransformations,
  transformations,
}: HasTransformations): StagedTransformations | undefined {
  if (!transformations || stagedTransformations?.regular) return stagedTransformations;
  let known = made.get(transformations);
  if (!known) made.set(transformations, (known = new WeakMap()));
  const beside = stagedTransformations ?? NOT_STAGED;
  const before = known.get(beside);
  if (before) return before;
  const { requestTransformation, responseTransformation, clearRouteCache } = transformations;
  const entry = {
    ...(requestTransformation && { requestTransformation }),
    ...(responseTransformation && { responseTransformation }),
    ...(clearRouteCache !== undefined && { clearRouteCache }),
  };
  const staged = Object.freeze({
    ...stagedTransformations,
    regular: Object.freeze({ requestTransforms: Object.freeze([Object.freeze(entry)]) }),
  });
  known.set(beside, staged);
  return staged;
}

/** A template of a request, and its path in its block. */
export interface PlacedTemplate {
  readonly template: TransformationTemplate;
  readonly path: readonly (string | number)[];
}

/** Returns every request template of a level, with its path below the options. */
export function requestTemplates({ stagedTransformations, transformations }: HasTransformations): PlacedTemplate[] {
  const staged = (['early', 'regular'] as const).flatMap((name) =>
    ofStage(stagedTransformations?.[name], ['stagedTransformations', name]),
  );
  const single = transformations?.requestTransformation?.transformationTemplate;
  if (!single) return staged;
  const path = ['transformations', 'requestTransformation', 'transformationTemplate'];
  return [...staged, { template: single, path }];
}

function ofStage(stage: TransformationStage | undefined, path: readonly string[]): PlacedTemplate[] {
  return (stage?.requestTransforms ?? []).flatMap(({ requestTransformation }, i) => {
    const template = requestTransformation?.transformationTemplate;
    if (!template) return [];
    return [{ template, path: [...path, 'requestTransforms', i, 'requestTransformation', 'transformationTemplate'] }];
  });
}

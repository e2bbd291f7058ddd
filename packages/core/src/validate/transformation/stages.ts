import type {
  StagedTransformations,
  Transformation,
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

/** The message that a transformation changes. */
export type Side = 'request' | 'response';

/** A template, its side, and its path below the options. */
export interface PlacedTemplate {
  readonly template: TransformationTemplate;
  readonly side: Side;
  readonly path: readonly (string | number)[];
}

type Path = PlacedTemplate['path'];

/** Returns every template of a level. */
export function templatesOf({ stagedTransformations, transformations }: HasTransformations): readonly PlacedTemplate[] {
  if (!stagedTransformations && !transformations) return NO_TEMPLATES;
  const staged = (['early', 'regular', 'postRouting'] as const).flatMap((name) =>
    ofStage(stagedTransformations?.[name], ['stagedTransformations', name]),
  );
  return [...staged, ...ofPair(transformations ?? {}, ['transformations'])];
}

const NO_TEMPLATES: readonly PlacedTemplate[] = Object.freeze([]);

function ofStage(stage: TransformationStage | undefined, path: Path): PlacedTemplate[] {
  return [
    ...(stage?.requestTransforms ?? []).flatMap((entry, i) => ofPair(entry, [...path, 'requestTransforms', i])),
    ...(stage?.responseTransforms ?? []).flatMap((entry, i) => ofPair(entry, [...path, 'responseTransforms', i])),
  ];
}

interface Pair {
  readonly requestTransformation?: Transformation;
  readonly responseTransformation?: Transformation;
}

function ofPair(pair: Pair, path: Path): PlacedTemplate[] {
  return (['request', 'response'] as const).flatMap((side) => {
    const field = `${side}Transformation` as const;
    const template = pair[field]?.transformationTemplate;
    return template ? [{ template, side, path: [...path, field, 'transformationTemplate'] }] : [];
  });
}

import type { FieldPath, FieldProblem } from '../../resource/problem.ts';
import type { TransformationStage, TransformationTemplate } from '../../schema/route/transformations.ts';
import { extractorProblem } from './extractor.ts';
import { templatesOf, type HasTransformations, type Side } from './stages.ts';
import { each, fields, reporterOf, within, type Check } from '../check.ts';
import { addedNameProblem, headerNameProblem } from '../route/check-header-manipulation.ts';
import { checkConditions, checkMatcherCondition } from '../route/check-matcher.ts';

const invalid = reporterOf('INVALID_TRANSFORMATION');
const invalidHeader = reporterOf('INVALID_HEADER');

/** Returns problems of transformations: extractors and header names. Templates are checked at translation. */
export const checkTransformations: Check<HasTransformations> = (options, at) => [
  ...templatesOf(options).flatMap(({ template, side, path }) => checkTemplate(template, side, [...at, ...path])),
  ...within(options.stagedTransformations, [...at, 'stagedTransformations'], (stages, path) =>
    fields(stages, path, { early: checkMatchers, regular: checkMatchers, postRouting: checkMatchers }),
  ),
];

/** Returns problems of one stage, which is the options of a middleware. */
export const checkStage: Check<TransformationStage> = (stage, at) => [
  ...templatesOf({ stagedTransformations: { regular: stage } }).flatMap(({ template, side, path }) =>
    checkTemplate(template, side, [...at, ...path.slice(ABOVE_STAGE)]),
  ),
  ...checkMatchers(stage, at),
];

/** Length of the path of a stage in its options. */
const ABOVE_STAGE = 2;

const checkMatchers: Check<TransformationStage> = (stage, at) => [
  ...each(stage.requestTransforms, [...at, 'requestTransforms'], (one, path) =>
    fields(one, path, { matcher: checkConditions }),
  ),
  ...each(stage.responseTransforms, [...at, 'responseTransforms'], ({ matchers }, path) =>
    each(matchers, [...path, 'matchers'], checkMatcherCondition),
  ),
];

/** Returns problems of one template: extractors, header names and metadata. */
export const checkTemplate = (template: TransformationTemplate, side: Side, at: FieldPath): FieldProblem[] => [
  ...Object.entries(template.extractors ?? {}).flatMap(([name, extractor]) => {
    const problem = extractorProblem(extractor);
    return invalid(problem && `extractor ${name.slice(0, 60)}: ${problem}`, [...at, 'extractors', name]);
  }),
  ...headerProblems(template, side, at),
  ...each(template.dynamicMetadataValues, [...at, 'dynamicMetadataValues'], ({ key }, path) =>
    invalid(!key && 'the value has no key', path),
  ),
];

/** Pseudo headers that a transformation may set. */
const PSEUDO: Readonly<Record<Side, ReadonlySet<string>>> = {
  request: new Set([':path', ':method', ':authority', 'host']),
  response: new Set([':status']),
};

/** Returns problems of the headers that a transformation sets, adds or removes. */
export function headerProblems(
  { headers = {}, headersToAppend, headersToRemove }: TransformationTemplate,
  side: Side,
  at: FieldPath = [],
): FieldProblem[] {
  const set = Object.keys(headers).filter((name) => !PSEUDO[side].has(name.toLowerCase()));
  return [
    ...set.flatMap((name) => invalidHeader(addedNameProblem(name), [...at, 'headers', name])),
    ...each(headersToAppend, [...at, 'headersToAppend'], ({ key = '' }, path) =>
      invalidHeader(addedNameProblem(key), [...path, 'key']),
    ),
    ...each(headersToRemove, [...at, 'headersToRemove'], (name, path) => invalidHeader(headerNameProblem(name), path)),
  ];
}

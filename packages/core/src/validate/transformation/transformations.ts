import type { FieldPath, FieldProblem } from '../../resource/problem.ts';
import type { TransformationStage, TransformationTemplate } from '../../schema/route/transformations.ts';
import { extractorProblem } from './extractor.ts';
import { requestTemplates, type HasTransformations } from './stages.ts';
import { each, fields, reporterOf, within, type Check } from '../check.ts';
import { addedNameProblem, headerNameProblem } from '../route/header-manipulation.ts';
import { checkConditions } from '../route/matcher.ts';

const invalid = reporterOf('INVALID_TRANSFORMATION');
const invalidHeader = reporterOf('INVALID_HEADER');

/** Returns problems of transformations: extractors and header names. Templates are checked at translation. */
export const checkTransformations: Check<HasTransformations> = (options, at) => [
  ...requestTemplates(options).flatMap(({ template, path }) => checkTemplate(template, [...at, ...path])),
  ...within(options.stagedTransformations, [...at, 'stagedTransformations'], (stages, path) =>
    fields(stages, path, { early: checkMatchers, regular: checkMatchers }),
  ),
];

const checkMatchers: Check<TransformationStage> = (stage, at) =>
  each(stage.requestTransforms, [...at, 'requestTransforms'], (one, path) =>
    fields(one, path, { matcher: checkConditions }),
  );

const checkTemplate: Check<TransformationTemplate> = (template, at) => [
  ...Object.entries(template.extractors ?? {}).flatMap(([name, extractor]) => {
    const problem = extractorProblem(extractor);
    return invalid(problem && `extractor ${name.slice(0, 60)}: ${problem}`, [...at, 'extractors', name]);
  }),
  ...headerProblems(template, at),
  ...each(template.dynamicMetadataValues, [...at, 'dynamicMetadataValues'], ({ key }, path) =>
    invalid(!key && 'the value has no key', path),
  ),
];

/** Pseudo headers that a request transformation may set. */
const PSEUDO: ReadonlySet<string> = new Set([':path', ':method', ':authority', 'host']);

/** Returns problems of the headers that a request transformation sets, adds or removes. */
export function headerProblems(
  { headers = {}, headersToAppend, headersToRemove }: TransformationTemplate,
  at: FieldPath = [],
): FieldProblem[] {
  const set = Object.keys(headers).filter((name) => !PSEUDO.has(name.toLowerCase()));
  return [
    ...set.flatMap((name) => invalidHeader(addedNameProblem(name), [...at, 'headers', name])),
    ...each(headersToAppend, [...at, 'headersToAppend'], ({ key = '' }, path) =>
      invalidHeader(addedNameProblem(key), [...path, 'key']),
    ),
    ...each(headersToRemove, [...at, 'headersToRemove'], (name, path) => invalidHeader(headerNameProblem(name), path)),
  ];
}

import type { FieldPath, FieldProblem } from '../../resource/problem.ts';
import type { TransformationStage, TransformationTemplate } from '../../schema/route/transformations.ts';
import { extractorProblem } from './extractor.ts';
import { headerProblems } from './header-problems.ts';
import { requestTemplates, type HasTransformations } from './stages.ts';
import { each, within } from '../check.ts';
import { checkMatcher } from '../route/matcher.ts';

/** Returns problems of transformations: extractors and header names. Templates are checked at translation. */
export function checkTransformations(options: HasTransformations, at: FieldPath): FieldProblem[] {
  return [
    ...requestTemplates(options).flatMap(({ template, path }) => checkTemplate(template, [...at, ...path])),
    ...STAGES.flatMap((stage) =>
      checkMatchers(options.stagedTransformations?.[stage], [...at, 'stagedTransformations', stage]),
    ),
  ];
}

const STAGES = ['early', 'regular'] as const;

function checkMatchers(stage: TransformationStage | undefined, at: FieldPath): FieldProblem[] {
  return each(stage?.requestTransforms, [...at, 'requestTransforms'], ({ matcher }, path) =>
    within(matcher, [...path, 'matcher'], (part, place) => checkMatcher(part, place, { pathless: true })),
  );
}

function checkTemplate(template: TransformationTemplate, at: FieldPath): FieldProblem[] {
  const { extractors = {}, dynamicMetadataValues } = template;
  return [
    ...Object.entries(extractors).flatMap(([name, extractor]) =>
      found('INVALID_TRANSFORMATION', [...at, 'extractors', name], inExtractor(name, extractorProblem(extractor))),
    ),
    ...headerProblems(template).flatMap(({ path, message }) => found('INVALID_HEADER', [...at, ...path], message)),
    ...each(dynamicMetadataValues, [...at, 'dynamicMetadataValues'], ({ key }, path) =>
      found('INVALID_TRANSFORMATION', path, key ? undefined : 'the value has no key'),
    ),
  ];
}

function found(code: FieldProblem['code'], path: FieldPath, message: string | undefined): FieldProblem[] {
  return message === undefined ? [] : [{ code, path, message }];
}

function inExtractor(name: string, problem: string | undefined): string | undefined {
  return problem && `extractor ${name.slice(0, 60)}: ${problem}`;
}

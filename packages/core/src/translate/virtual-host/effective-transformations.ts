import { formatPath, type FieldPath } from '../../resource/problem.ts';
import { compileRegex } from '../../syntax/regex.ts';
import { thrownBy } from '../../validate/check.ts';
import type { TransformationStage, TransformationTemplate } from '../../schema/route/transformations.ts';
import { templatesOf, stagesOf, type HasTransformations } from '../../validate/transformation/stages.ts';
import { templateProblems } from '../../validate/transformation/template-problems.ts';
import type { Reader } from '../input.ts';
import type { SourcedProblem } from '../status/report.ts';
import { faultOf } from '../reference/missing.ts';
import { optionPlace, type OptionHolder, type OptionPlace } from './option-place.ts';

/**
 * Applies `inheritTransformation`: appends the early and regular lists of the parent to the own
 * ones. A block inherited from the parent as a whole is not changed.
 */
export function withInheritedTransformations<O extends HasTransformations>(
  options: O,
  parent: HasTransformations | undefined,
): O {
  const own = stagesOf(options);
  if (!own?.inheritTransformation || own === parent?.stagedTransformations) return options;
  const inherited = parent && stagesOf(parent);
  if (!inherited) return options;
  const early = joined(own.early, inherited.early);
  const regular = joined(own.regular, inherited.regular);
  const stagedTransformations = Object.freeze({ ...own, ...(early && { early }), ...(regular && { regular }) });
  return Object.freeze({ ...options, stagedTransformations });
}

function joined(own: TransformationStage | undefined, inherited: TransformationStage | undefined) {
  if (!own || !inherited) return own ?? inherited;
  const requestTransforms = [...(own.requestTransforms ?? []), ...(inherited.requestTransforms ?? [])];
  const responseTransforms = [...(own.responseTransforms ?? []), ...(inherited.responseTransforms ?? [])];
  return Object.freeze({
    ...(requestTransforms.length > 0 && { requestTransforms: Object.freeze(requestTransforms) }),
    ...(responseTransforms.length > 0 && { responseTransforms: Object.freeze(responseTransforms) }),
  });
}

/** Returns problems of templates and of expression sizes in the transformations of one level, with their path in the resource of the holder. */
export function transformationProblems(
  options: HasTransformations,
  holder: OptionHolder,
  reader: Reader,
): readonly SourcedProblem[] {
  const { validateTransformations, regexMaxProgramSize } = reader.input.settings;
  if (!validateTransformations) return [];
  return templatesOf(options).flatMap(({ template, side, path }) => {
    const problems = templateProblems(template, side);
    const tooLarge = sizeProblems(template, regexMaxProgramSize);
    if (problems.length === 0 && tooLarge.length === 0) return [];
    const place = templatePlace(template, holder, reader);
    return [
      ...problems.map((problem) =>
        placed(place, `${formatPath([...path, ...problem.path])}: ${problem.message}`, problem.path),
      ),
      ...tooLarge.map((message) => placed(place, message, [])),
    ];
  });
}

/** Inherited templates are at the holder. */
function templatePlace(template: TransformationTemplate, holder: OptionHolder, reader: Reader): OptionPlace {
  const pathIn = (options: HasTransformations) => templatesOf(options).find((each) => each.template === template)?.path;
  return optionPlace(pathIn, holder, reader) ?? { at: holder.at };
}

function placed({ at, isInline, shared }: OptionPlace, message: string, below: FieldPath): SourcedProblem {
  if (!shared) return { ...faultOf(message), path: isInline ? [...at, ...below] : at };
  const { key, path } = shared.source;
  return { ...faultOf(`${shared.name}: ${message}`), path: at, source: { key, path: [...path, ...below] } };
}

function sizeProblems({ extractors = {} }: TransformationTemplate, maxProgramSize: number): string[] {
  return Object.entries(extractors).flatMap(([name, { regex = '' }]) => {
    const problem = thrownBy(() => compileRegex(regex, { maxProgramSize }));
    return problem === undefined ? [] : [`extractor ${name}: regex '${regex}': ${problem}`];
  });
}

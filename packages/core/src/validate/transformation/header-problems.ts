import type { TransformationTemplate } from '../../schema/route/transformations.ts';
import { addedNameProblem, headerNameProblem } from '../route/header-manipulation.ts';
import type { TemplateProblem } from './template-problems.ts';

/** Pseudo headers that a request transformation may set. */
const PSEUDO: ReadonlySet<string> = new Set([':path', ':method', ':authority', 'host']);

/** Returns problems of the headers that a request transformation sets, adds or removes. */
export function headerProblems({
  headers = {},
  headersToAppend = [],
  headersToRemove = [],
}: TransformationTemplate): TemplateProblem[] {
  return [
    ...Object.keys(headers).flatMap((name) =>
      problem(['headers', name], PSEUDO.has(name.toLowerCase()) ? undefined : addedNameProblem(name)),
    ),
    ...headersToAppend.flatMap(({ key = '' }, i) => problem(['headersToAppend', i, 'key'], addedNameProblem(key))),
    ...headersToRemove.flatMap((name, i) => problem(['headersToRemove', i], headerNameProblem(name))),
  ];
}

function problem(path: TemplateProblem['path'], message: string | undefined): TemplateProblem[] {
  return message === undefined ? [] : [{ path, message }];
}

import type { FieldPath, FieldProblem } from '../../resource/problem.ts';
import type { VirtualHostOptions } from '../../schema/route/route-options.ts';
import { checkCors } from './cors.ts';
import { within } from '../check.ts';
import { checkHeaderManipulation } from './header-manipulation.ts';
import { checkRetries } from './retries.ts';
import { checkTransformations } from '../transformation/transformations.ts';

/** Returns problems of the options of one virtual host. */
export function checkVirtualHostOptions(options: VirtualHostOptions, at: FieldPath): FieldProblem[] {
  return [
    ...within(options.headerManipulation, [...at, 'headerManipulation'], checkHeaderManipulation),
    ...checkTransformations(options, at),
    ...within(options.cors, [...at, 'cors'], checkCors),
    ...within(options.retries, [...at, 'retries'], checkRetries),
  ];
}

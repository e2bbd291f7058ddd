import type { FieldPath, FieldProblem } from '../../resource/problem.ts';
import type { RouteOptions } from '../../schema/route/route-options.ts';
import type { Reader } from '../input.ts';

/** Returns the problem of an unusable upstream for copies of requests; the requests themselves are served. */
export function missingShadows({ shadowing }: RouteOptions, reader: Reader, above: FieldPath): FieldProblem[] {
  const { name, namespace = '' } = shadowing?.upstream ?? {};
  const { fault } = name ? reader.upstream({ name, namespace }) : {};
  if (!fault) return [];
  const message = `requests are not copied: ${fault.message}`;
  return [{ ...fault, message, path: [...above, 'options', 'shadowing', 'upstream'] }];
}

import type { DestinationSpec } from '../schema/route/destination.ts';
import type { ServiceSpec } from '../schema/upstream/service-spec.ts';
import { parameterProblems } from '../syntax/parameter-pattern.ts';
import { reporterOf, within, type Check } from './check.ts';
import { functionTemplate } from './transformation/function-template.ts';
import { checkTemplate } from './transformation/check-transformations.ts';

const invalid = reporterOf('INVALID_ACTION');

/** A call of a function needs its name; patterns of parameters must be valid. */
export const checkDestinationSpec: Check<NonNullable<DestinationSpec['destinationSpec']>> = ({ rest }, at) =>
  within(rest, [...at, 'rest'], ({ functionName, parameters, responseTransformation }, path) => [
    ...invalid(!functionName && 'the call names no function', path, { hint: 'functionName' }),
    ...within(parameters, [...path, 'parameters'], (written, place) =>
      parameterProblems(written).flatMap((problem) => invalid(problem.message, [...place, ...problem.path])),
    ),
    ...within(responseTransformation, [...path, 'responseTransformation'], (template, place) =>
      checkTemplate(template, 'response', place),
    ),
  ]);

/** Templates of functions; headers that frame the body are ignored. */
export const checkServiceSpec: Check<ServiceSpec> = ({ rest }, at) =>
  Object.entries(rest?.transformations ?? {}).flatMap(([name, template]) =>
    checkTemplate(functionTemplate(template), 'request', [...at, 'rest', 'transformations', name]),
  );

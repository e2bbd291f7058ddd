import type { DestinationSpec, WeightedDestination } from '../../schema/route/destination.ts';
import { each, fields, reporterOf, within, type Check } from '../check.ts';
import { checkDestinationSpec } from '../check-rest-function.ts';
import { checkCsrf } from './check-csrf.ts';
import { checkHeaderManipulation } from './check-header-manipulation.ts';
import { checkTransformations } from '../transformation/check-transformations.ts';

const invalid = reporterOf('INVALID_ACTION');

/** A destination must name its target. */
export const checkDestination: Check<DestinationSpec> = ({ upstream, kube, consul, destinationSpec }, at) => {
  const isNamed = upstream?.name || kube?.ref?.name || consul?.serviceName;
  return [
    ...invalid(!isNamed && 'the destination names no upstream', at, { hint: 'upstream' }),
    ...within(destinationSpec, [...at, 'destinationSpec'], checkDestinationSpec),
  ];
};

/** Weighted destinations: at least one, each with a destination; the sum of the weights must be at least 1. */
export const checkWeighted: Check<readonly WeightedDestination[] | undefined> = (destinations = [], at) => {
  if (destinations.length === 0) return invalid('at least one destination is required', at);
  const sum = destinations.reduce((total, { weight = 0 }) => total + weight, 0);
  return [...each(destinations, at, checkOne), ...invalid(sum < 1 && 'the sum of the weights must be at least 1', at)];
};

const checkOne: Check<WeightedDestination> = ({ destination, options }, at) => [
  ...checkDestination(destination ?? {}, destination ? [...at, 'destination'] : at),
  ...within(options, [...at, 'options'], (own, path) => [
    ...fields(own, path, { headerManipulation: checkHeaderManipulation, csrf: checkCsrf }),
    ...checkTransformations(own, path),
  ]),
];

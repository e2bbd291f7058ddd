import type { FieldPath, FieldProblem } from '../../resource/problem.ts';
import type { DestinationSpec, WeightedDestination } from '../../schema/route/destination.ts';
import { each, within } from '../check.ts';
import { checkHeaderManipulation } from './header-manipulation.ts';
import { checkTransformations } from '../transformation/transformations.ts';

/** A destination must name its target. */
export function checkDestination(destination: DestinationSpec, at: FieldPath): FieldProblem[] {
  const { upstream, kube, consul } = destination;
  const named = upstream?.name || kube?.ref?.name || consul?.serviceName;
  return named
    ? []
    : [{ code: 'INVALID_ACTION', path: at, message: 'the destination names no upstream', hint: 'upstream' }];
}

/** Weighted destinations: at least one, each with a destination; the sum of the weights must be at least 1. */
export function checkWeighted(destinations: readonly WeightedDestination[] | undefined, at: FieldPath): FieldProblem[] {
  if (!destinations?.length) {
    return [{ code: 'INVALID_ACTION', path: at, message: 'at least one destination is required' }];
  }
  const findings = each(destinations, at, checkOne);
  const sum = destinations.reduce((total, { weight = 0 }) => total + weight, 0);
  if (sum >= 1) return findings;
  return [...findings, { code: 'INVALID_ACTION', path: at, message: 'the sum of the weights must be at least 1' }];
}

function checkOne({ destination, options }: WeightedDestination, at: FieldPath): FieldProblem[] {
  return [
    ...checkDestination(destination ?? {}, destination ? [...at, 'destination'] : at),
    ...within(options?.headerManipulation, [...at, 'options', 'headerManipulation'], checkHeaderManipulation),
    ...within(options, [...at, 'options'], checkTransformations),
  ];
}

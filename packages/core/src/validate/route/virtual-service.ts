import type { FieldPath, FieldProblem } from '../../resource/problem.ts';
import type { VirtualHostSpec, VirtualServiceSpec } from '../../schema/kind/virtual-service.ts';
import { checkDomains } from './domain.ts';
import { each, within } from '../check.ts';
import { checkRoute } from './route.ts';
import { checkVirtualHostOptions } from './virtual-host-options.ts';

/** Returns problems of a VirtualService. */
export function checkVirtualService({ virtualHost }: VirtualServiceSpec, at: FieldPath): FieldProblem[] {
  return within(virtualHost, [...at, 'virtualHost'], checkVirtualHost);
}

function checkVirtualHost({ domains, routes, options }: VirtualHostSpec, at: FieldPath): FieldProblem[] {
  return [
    ...checkDomains(domains, [...at, 'domains']),
    ...within(options, [...at, 'options'], checkVirtualHostOptions),
    ...each(routes, [...at, 'routes'], checkRoute),
  ];
}

import type { FieldPath } from '../../resource/issue.ts';
import type { VirtualHostSpec, VirtualServiceSpec } from '../../schema/kind/virtual-service.ts';
import { checkDomains } from './domain.ts';
import { each, within, type Finding } from '../finding.ts';
import { checkRoute } from './route.ts';
import { checkVirtualHostOptions } from './virtual-host-options.ts';

/** Problems of a VirtualService. */
export function checkVirtualService({ virtualHost }: VirtualServiceSpec, at: FieldPath): Finding[] {
  return within(virtualHost, [...at, 'virtualHost'], checkVirtualHost);
}

function checkVirtualHost({ domains, routes, options }: VirtualHostSpec, at: FieldPath): Finding[] {
  return [
    ...checkDomains(domains, [...at, 'domains']),
    ...within(options, [...at, 'options'], checkVirtualHostOptions),
    ...each(routes, [...at, 'routes'], checkRoute),
  ];
}

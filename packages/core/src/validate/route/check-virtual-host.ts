import type { FieldPath, FieldProblem } from '../../resource/problem.ts';
import type { VirtualHostSpec } from '../../schema/kind/virtual-service.ts';
import { each, fields, reporterOf, type Check } from '../check.ts';
import { checkRoute } from './check-route.ts';
import { checkVirtualHostOptions } from './check-route-options.ts';

const HOST = /^[^\s/?#@*\\]+$/;
const emptyDomain = reporterOf('EMPTY_DOMAIN');
const invalidDomain = reporterOf('INVALID_DOMAIN');

/** Returns problems of the virtual host of a VirtualService. */
export const checkVirtualHost: Check<VirtualHostSpec> = (host, at) =>
  fields(host, at, {
    domains: checkDomains,
    options: checkVirtualHostOptions,
    routes: (routes, path) => each(routes, path, checkRoute),
  });

function checkDomains(domains: readonly string[], at: FieldPath): FieldProblem[] {
  return each(domains, at, (domain, path) =>
    domain === ''
      ? emptyDomain('a domain must not be empty', path, { hint: "'*' is every host" })
      : invalidDomain(domainProblem(domain), path),
  );
}

/** Returns why no host can match a domain; `undefined` if one can. */
function domainProblem(domain: string): string | undefined {
  if (domain === '*') return undefined;
  const fixed = domain.startsWith('*') ? domain.slice(1) : domain.endsWith('*') ? domain.slice(0, -1) : domain;
  if (fixed.includes('*')) return `the domain '${domain}' may have one '*', at its start or its end`;
  return HOST.test(fixed) ? undefined : `invalid domain '${domain}': use a host name, optionally with a port`;
}

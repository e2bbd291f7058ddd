import type { FieldPath, FieldProblem } from '../../resource/problem.ts';

const HOST = /^[^\s/?#@*\\]+$/;

/** Returns problems of the domains of a virtual host. */
export function checkDomains(domains: readonly string[] | undefined, at: FieldPath): FieldProblem[] {
  if (!domains || (domains.length === 1 && domains[0] === '')) return [];
  return domains.flatMap((domain, i): FieldProblem[] => {
    if (domain === '') return [{ code: 'EMPTY_DOMAIN', path: [...at, i], message: 'a domain must not be empty' }];
    const message = domainProblem(domain);
    return message ? [{ code: 'INVALID_DOMAIN', path: [...at, i], message }] : [];
  });
}

/** Returns why no host can match a domain; `undefined` if one can. */
export function domainProblem(domain: string): string | undefined {
  if (domain === '*') return undefined;
  const fixed = domain.startsWith('*') ? domain.slice(1) : domain.endsWith('*') ? domain.slice(0, -1) : domain;
  if (fixed.includes('*')) return `the domain '${domain}' may have one '*', at its start or its end`;
  return HOST.test(fixed) ? undefined : `invalid domain '${domain}': use a host name, optionally with a port`;
}

/** Returns the served domains of a virtual host: lower case, unique; an empty list means every domain. */
export function effectiveDomains(written: readonly string[] | undefined): readonly string[] {
  if (!written || written.length === 0 || (written.length === 1 && written[0] === '')) return EVERY_DOMAIN;
  return Object.freeze([...new Set(written.map((domain) => domain.toLowerCase()))]);
}

const EVERY_DOMAIN: readonly string[] = Object.freeze(['*']);

/** The claim of one virtual service to its domains. */
export interface DomainClaim {
  readonly name: string;
  readonly domains: readonly string[];
}

/** Returns the domains with several claims, with the names of their claimants, both sorted. Independent of the input order. */
export function domainConflicts(claims: readonly DomainClaim[]): ReadonlyMap<string, readonly string[]> {
  const owners = new Map<string, string>();
  const conflicts = new Map<string, string[]>();
  for (const { name, domains } of claims) {
    for (const domain of domains) {
      const owner = owners.get(domain);
      if (owner === undefined) owners.set(domain, name);
      else if (conflicts.has(domain)) conflicts.get(domain)!.push(name);
      else conflicts.set(domain, [owner, name]);
    }
  }
  for (const names of conflicts.values()) names.sort();
  return new Map([...conflicts].sort(([a], [b]) => (a < b ? -1 : 1)));
}

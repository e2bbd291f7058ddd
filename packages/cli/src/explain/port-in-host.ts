const PORT = /:\d+$/;

/** Returns true if a domain of a virtual host matches a host: it is equal, `*`, or has a wildcard at its start or end. */
export function matchesDomain(domain: string, host: string): boolean {
  const [wanted, asked] = [domain.toLowerCase(), host.toLowerCase()];
  if (wanted === '*' || wanted === asked) return true;
  if (wanted.startsWith('*')) return asked.endsWith(wanted.slice(1)) && asked.length >= wanted.length;
  return wanted.endsWith('*') && asked.startsWith(wanted.slice(0, -1)) && asked.length >= wanted.length;
}

/** Returns true if a host does not match a domain only because of its port, which is part of the host. */
export function differsInPort(domain: string, host: string): boolean {
  return PORT.test(host) && !matchesDomain(domain, host) && matchesDomain(domain, host.replace(PORT, ''));
}

/** Returns a text for the first domain that a host does not match only because of its port; empty if there is none. */
export function portHint(domains: readonly string[], host: string): string {
  const domain = domains.find((each) => differsInPort(each, host));
  return domain === undefined
    ? ''
    : `the port is part of the host, and ${host} is not among the domains (without the port it would match)`;
}

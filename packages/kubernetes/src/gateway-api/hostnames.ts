const ANY = '*';

/** Returns whether a host name, which may be a wildcard, is among those of another. */
export function isWithin(name: string, wider: string): boolean {
  if (wider === ANY || name === wider) return true;
  return wider.startsWith('*.') && name.endsWith(wider.slice(1)) && name.length > wider.length - 1;
}

/** Returns the host names that a route and a listener have in common; empty names mean all. */
export function commonHostnames(listener: string | undefined, route: readonly string[] = []): readonly string[] {
  const own = (listener || ANY).toLowerCase();
  if (route.length === 0) return [own];
  const common = route
    .map((name) => name.toLowerCase())
    .flatMap((name) => {
      if (isWithin(name, own)) return [name];
      return isWithin(own, name) ? [own] : [];
    });
  return [...new Set(common)];
}

/** Returns how specific a host name is: exact ones first, then by length. */
export function specificity(name: string): number {
  if (name === ANY) return 0;
  return name.startsWith('*.') ? name.length : 1_000 + name.length;
}

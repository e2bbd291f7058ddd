const VALID = /^[_A-Za-z][_0-9A-Za-z]*$/;

/** True for a name that GraphQL takes and does not keep for itself. */
export function isGraphQLName(name: string): boolean {
  return VALID.test(name) && !name.startsWith('__');
}

/** Makes a GraphQL name of any text: `get-pet.by/id` becomes `getPetById`; empty when nothing of it can be kept. */
export function toGraphQLName(text: string): string {
  if (isGraphQLName(text)) return text;
  const words = text.split(/[^_0-9A-Za-z]+/).filter((word) => word !== '');
  const [first = '', ...rest] = words;
  const joined = first + rest.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  const trimmed = joined.replace(/^_{2,}/, '_');
  return /^[0-9]/.test(trimmed) ? `_${trimmed}` : trimmed;
}

/** Makes a type name: as {@link toGraphQLName}, starting with a capital letter. */
export function toTypeName(text: string): string {
  const name = toGraphQLName(text);
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** `UserSearch` becomes `user_search`. */
export function toSnakeCase(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .toLowerCase();
}

/** Gives each name once: the second `pet` becomes `pet2`. */
export function uniqueNames(reserved: Iterable<string> = []): (name: string) => string {
  const taken = new Set(reserved);
  /** Numbers that are taken already, so that many of one name are not counted again and again. */
  const counts = new Map<string, number>();
  return (name) => {
    let unique = name;
    let count = counts.get(name) ?? 1;
    while (taken.has(unique)) unique = `${name}${++count}`;
    counts.set(name, count);
    taken.add(unique);
    return unique;
  };
}

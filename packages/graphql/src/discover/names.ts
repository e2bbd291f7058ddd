const VALID = /^[_A-Za-z][_0-9A-Za-z]*$/;

/** Returns true for a valid GraphQL name that is not reserved. */
export function isGraphQLName(name: string): boolean {
  return VALID.test(name) && !name.startsWith('__');
}

export function isEnumValue(name: string): boolean {
  return isGraphQLName(name) && !/^(true|false|null)$/.test(name);
}

/** Converts any text to a GraphQL name: `get-pet.by/id` becomes `getPetById`; empty if no character is valid. */
export function toGraphQLName(text: string): string {
  if (isGraphQLName(text)) return text;
  const words = text.split(/[^_0-9A-Za-z]+/).filter((word) => word !== '');
  const [first = '', ...rest] = words;
  const joined = first + rest.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  const trimmed = joined.replace(/^_{2,}/, '_');
  return /^[0-9]/.test(trimmed) ? `_${trimmed}` : trimmed;
}

/** Converts any text to a type name: as {@link toGraphQLName}, with a capital first letter. */
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

/** Creates a function that makes names unique: the second `pet` becomes `pet2`. */
export function uniqueNames(reserved: Iterable<string> = []): (name: string) => string {
  const taken = new Set(reserved);
  /** Last number of each name, so that many equal names do not cost quadratic time. */
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

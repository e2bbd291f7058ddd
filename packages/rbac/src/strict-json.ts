/** A string literal, or one of the characters that structure a document. */
const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g;
const MAX_DEPTH = 64;

/**
 * Parses an object as JSON, but refuses what two readers could read differently: a name that stands twice in one
 * object, or more than 64 levels. Gives `undefined` for what is not such a document.
 */
export function parseStrictObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    return hasUniqueNames(text) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function hasUniqueNames(text: string): boolean {
  const open: (Set<string> | undefined)[] = [];
  let last = '';
  for (const [token] of text.matchAll(TOKENS)) {
    if (token === '{') open.push(new Set());
    else if (token === '[') open.push(undefined);
    else if (token === '}' || token === ']') open.pop();
    else if (token === ':') {
      const names = open.at(-1)!;
      const name = JSON.parse(last) as string;
      if (names.has(name)) return false;
      names.add(name);
    } else last = token;
    if (open.length > MAX_DEPTH) return false;
  }
  return true;
}

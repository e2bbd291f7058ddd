import { copyText } from './copy-text.ts';

/** Beyond these limits nothing is cached: clients choose names. */
const MAX_NAMES = 1_000;
const MAX_LENGTH = 64;

/** Returns a function like `classify` that caches what it returns for each header name: most messages have the same few. */
export function cachedByName<T>(classify: (name: string) => T): (name: string) => T {
  const known = new Map<string, T>();
  return (name) => {
    const found = known.get(name);
    if (found !== undefined) return found;
    const result = classify(name);
    // A copy, because a substring would keep the whole head in memory.
    if (known.size < MAX_NAMES && name.length <= MAX_LENGTH) known.set(copyText(name), result);
    return result;
  };
}

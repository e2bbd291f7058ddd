import { hash } from 'node:crypto';

const texts = new WeakMap<object, string>();
const digests = new WeakMap<object, string>();

/** Returns JSON with sorted keys: equal texts, equal content. Cached per object, so only for frozen objects. */
export function contentOf(value: object): string {
  const known = texts.get(value);
  if (known !== undefined) return known;
  const text = contentText(value);
  texts.set(value, text);
  return text;
}

/** Returns a short digest of the content, cached per object. */
export function digestOf(value: object): string {
  const known = digests.get(value);
  if (known !== undefined) return known;
  const digest = digestText(contentText(value));
  digests.set(value, digest);
  return digest;
}

/** Returns a digest of 20 characters. */
export function digestText(text: string): string {
  return hash('sha256', text, 'hex').slice(0, 20);
}

/** The same for any value, not cached. */
export function contentText(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(contentText).join(',')}]`;
  const record = value as Readonly<Record<string, unknown>>;
  const parts: string[] = [];
  for (const key of Object.keys(record).sort()) {
    if (record[key] !== undefined) parts.push(`${JSON.stringify(key)}:${contentText(record[key])}`);
  }
  return `{${parts.join(',')}}`;
}

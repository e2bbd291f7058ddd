import { isIterable, lazily } from '../http/json-chunks.ts';

/** Fields to keep, as a tree; a leaf keeps everything below it. */
export interface FieldMask {
  readonly [field: string]: FieldMask;
}

/** Reads `cluster.name,cluster.type`; an empty text keeps everything. */
export function parseMask(text: string): FieldMask {
  const root: Record<string, FieldMask> = Object.create(null);
  for (const path of text.split(',')) {
    let node = root;
    for (const field of path.trim().split('.').filter(Boolean)) {
      node = (node[field] ??= Object.create(null) as FieldMask) as Record<string, FieldMask>;
    }
  }
  return root;
}

/** A copy with only the fields of the mask, element by element in lists; `@type` always stays. */
export function applyMask(value: unknown, mask: FieldMask): unknown {
  if (Object.keys(mask).length === 0 || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((element) => applyMask(element, mask));
  if (isIterable(value)) return lazily(value, (element) => applyMask(element, mask));
  const kept = Object.entries(value).filter(([key]) => key === '@type' || Object.hasOwn(mask, key));
  return Object.fromEntries(kept.map(([key, inner]) => [key, key === '@type' ? inner : applyMask(inner, mask[key]!)]));
}

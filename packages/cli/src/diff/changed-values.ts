import { isDeepStrictEqual } from 'node:util';
import type { FieldPath } from '@edge-gateway/core';

/** A value that differs; `undefined` on the side without it. */
export interface ChangedValue {
  readonly path: FieldPath;
  readonly before: unknown;
  readonly after: unknown;
}

/** Returns the innermost values that differ between two JSON values. */
export function changedValues(path: FieldPath, before: unknown, after: unknown): ChangedValue[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (Array.isArray(before) && Array.isArray(after)) return changedItems(path, before, after);
  if (!isObject(before) || !isObject(after)) return [{ path, before, after }];
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].flatMap((key) => changedValues([...path, key], before[key], after[key]));
}

/** Compares the items between the equal ones at the start and at the end of two lists. */
function changedItems(path: FieldPath, before: readonly unknown[], after: readonly unknown[]): ChangedValue[] {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && isDeepStrictEqual(before[start], after[start])) start++;
  let end = 0;
  while (end < shorter - start && isDeepStrictEqual(before.at(-1 - end), after.at(-1 - end))) end++;
  const [old, now] = [before, after].map((items) => items.slice(start, items.length - end));
  return Array.from({ length: Math.max(old!.length, now!.length) }, (_, i) =>
    changedValues([...path, start + i], old![i], now![i]),
  ).flat();
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const LONGEST_TEXT = 200;
/** How much of the equal start of two long texts is shown. */
const CONTEXT = 40;

/** Returns `before -> after`; long texts are shown from where they differ. */
export function changeText(before: string, after: string): string {
  if (Math.max(before.length, after.length) <= LONGEST_TEXT) return `${before} -> ${after}`;
  let same = 0;
  while (same < before.length && before[same] === after[same]) same++;
  const from = same > CONTEXT ? same - CONTEXT : 0;
  const [was, is] = [before, after].map((text) => {
    const shown = text.slice(from, from + LONGEST_TEXT);
    return `${from > 0 ? '…' : ''}${shown}${from + shown.length < text.length ? '…' : ''}`;
  });
  return `${was} -> ${is}`;
}

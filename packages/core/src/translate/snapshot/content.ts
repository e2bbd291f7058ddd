import { hash } from 'node:crypto';
import type { Derived } from '../derived.ts';

/** Returns JSON with sorted keys, which is equal for equal content. Kept per object, so only for frozen ones. */
export function contentOf(value: object, derived: Derived): string {
  return derived.of(contentText, value);
}

/** Returns a short digest of the content of a frozen object. */
export function digestOf(value: object, derived: Derived): string {
  return derived.of(contentDigest, value);
}

function contentDigest(value: object): string {
  return digestText(contentText(value));
}

/** Returns a digest of 20 characters. */
export function digestText(text: string): string {
  return hash('sha256', text, 'hex').slice(0, 20);
}

/** Returns the content of any value. */
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

/** Freezes a value deeply; a frozen object is assumed to be frozen deeply. */
export function freezeDeep<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const part of Object.values(value)) freezeDeep(part);
  return Object.freeze(value);
}

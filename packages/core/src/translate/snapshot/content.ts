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
  if (typeof value === 'string') return quoted(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return listText(value);
  const record = value as Readonly<Record<string, unknown>>;
  let text = '{';
  for (const key of sortedKeys(record)) {
    if (record[key] === undefined) continue;
    text += `${text.length > 1 ? ',' : ''}${quoted(key)}:${contentText(record[key])}`;
  }
  return `${text}}`;
}

function listText(list: readonly unknown[]): string {
  let text = '[';
  for (const item of list) text += text.length > 1 ? `,${contentText(item)}` : contentText(item);
  return `${text}]`;
}

/** Texts that are the same in JSON. */
const PLAIN = /^[ !#-[\]-\ud7ff\ue000-\uffff]*$/;

/** Returns a text as JSON; most need no escapes. */
function quoted(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}

function sortedKeys(record: object): string[] {
  const keys = Object.keys(record);
  for (let i = 1; i < keys.length; i++) if (keys[i]! < keys[i - 1]!) return keys.sort();
  return keys;
}

/** Freezes a value deeply; a frozen object is assumed to be frozen deeply. */
export function freezeDeep<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const part of Object.values(value)) freezeDeep(part);
  return Object.freeze(value);
}

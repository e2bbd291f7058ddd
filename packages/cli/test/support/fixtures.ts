import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { parseAllDocuments } from 'yaml';

const DIRECTORY = new URL('../fixtures/', import.meta.url);

/** The documents of a fixture file as plain values. */
export function documents(name: string): unknown[] {
  const parsed = parseAllDocuments(readFileSync(new URL(name, DIRECTORY), 'utf8'));
  return Array.isArray(parsed) ? parsed.map((document) => document.toJS() as unknown) : [];
}

/** Compares a text with the fixture of this name; `UPDATE_GOLDEN=1` writes it. Spaces at the ends of lines do not count. */
export function expectFixture(name: string, text: string): void {
  const file = new URL(name, DIRECTORY);
  const clean = text.replaceAll(/[ \t]+$/gm, '');
  if (process.env['UPDATE_GOLDEN']) writeFileSync(file, clean);
  expect(clean).to.equal(readFileSync(file, 'utf8'));
}

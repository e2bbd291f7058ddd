import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { ROOT } from './docs/workspace.ts';

/** Values (`<name>.values.yaml`), and what the chart makes of them (`<name>.out.yaml`). */
export const GOLDENS = join(ROOT, 'test', 'golden', 'helm');

export const goldenNames: readonly string[] = readdirSync(GOLDENS)
  .filter((file) => file.endsWith('.values.yaml'))
  .map((file) => file.slice(0, -'.values.yaml'.length))
  .sort();

/** Returns the namespace that a set of values is rendered for. */
export const goldenNamespace = (name: string): string => (name === 'other-namespace' ? 'edge' : 'gw-system');

export const goldenPath = (name: string, part: 'values' | 'out'): string => join(GOLDENS, `${name}.${part}.yaml`);

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly labels?: Record<string, string> };
  readonly [key: string]: any;
}

/** Returns the objects of rendered manifests. */
export function manifestsIn(text: string): Manifest[] {
  return parseAllDocuments(text)
    .map((document) => document.toJS() as Manifest | null)
    .filter((object) => object !== null);
}

export function goldenManifests(name: string): Manifest[] {
  return manifestsIn(readFileSync(goldenPath(name, 'out'), 'utf8'));
}

import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import { stringify } from 'yaml';
import { DEFAULT_SNAPSHOT_SETTINGS } from '../../src/contract/snapshot.ts';
import { createStore } from '../../src/control/store.ts';
import { translate } from '../../src/translate/translate.ts';
import type { Translation } from '../../src/translate/translate.ts';
import { load, splitDocuments } from './load.ts';
import { shuffled } from './random.ts';

const FOLDER = join(import.meta.dirname, '../golden');
const update = process.env['UPDATE_GOLDEN'] === '1';

/** One case: `<name>.in.yaml`, then perhaps `<name>.then.yaml`, give `<name>.out.yaml`. */
interface Case {
  readonly name: string;
  readonly steps: readonly (readonly string[])[];
}

const files = readdirSync(FOLDER).sort();
const names = files.filter((file) => file.endsWith('.in.yaml')).map((file) => file.slice(0, -'.in.yaml'.length));
const read = (file: string) => readFileSync(join(FOLDER, file), 'utf8');

function caseOf(name: string): Case {
  const then = `${name}.then.yaml`;
  const steps = [`${name}.in.yaml`, ...(files.includes(then) ? [then] : [])];
  return { name, steps: steps.map((file) => splitDocuments(read(file))) };
}

/** What the last step gives, beside what the steps before it served. */
function run({ steps }: Case, order: (documents: readonly string[]) => readonly string[]): Translation {
  const store = createStore();
  let translation: Translation | undefined;
  for (const documents of steps) {
    translation = translate(load(order(documents), store), translation?.memo);
  }
  return translation!;
}

const LISTS = new Set(['authConfigs', 'graphqlApis', 'rateLimitConfigs']);

/** Leaves out what most cases say nothing of. */
function unlessDefault(key: string, value: unknown): unknown {
  if (LISTS.has(key) && Array.isArray(value) && value.length === 0) return undefined;
  return key === 'settings' && isDeepStrictEqual(value, DEFAULT_SNAPSHOT_SETTINGS) ? undefined : value;
}

/** Snapshots without their hash, proxies by name (their shape has a test of its own), and all statuses. */
function print({ snapshots, proxies, statuses }: Translation): string {
  const plain = {
    snapshots: Array.from(snapshots.values(), (snapshot) => ({ ...snapshot, version: undefined })),
    proxies: proxies.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`),
    statuses: Object.fromEntries([...statuses].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
  return stringify(JSON.parse(JSON.stringify(plain, unlessDefault)), { lineWidth: 0, aliasDuplicateObjects: false });
}

describe('golden translations', () => {
  const wanted = new Set(names.flatMap((name) => [`${name}.in.yaml`, `${name}.then.yaml`, `${name}.out.yaml`]));
  const orphans = files.filter((file) => !wanted.has(file));

  before(() => {
    if (update) for (const orphan of orphans) rmSync(join(FOLDER, orphan));
  });

  it('has no orphan files', () => {
    expect(update ? [] : orphans).to.deep.equal([]);
  });

  for (const name of names) {
    it(`${name} matches its output in any order of documents`, () => {
      const golden = caseOf(name);
      const printed = print(run(golden, (documents) => documents));
      const file = `${name}.out.yaml`;
      if (update) writeFileSync(join(FOLDER, file), printed);
      expect(files.includes(file) || update, `${file} is missing: UPDATE_GOLDEN=1 writes it`).to.equal(true);
      expect(printed).to.equal(read(file));
      for (const seed of [1, 2, 3]) {
        expect(print(run(golden, (documents) => shuffled(documents, seed)))).to.equal(printed);
      }
    });
  }
});

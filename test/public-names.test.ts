import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROOT } from './docs/workspace.ts';

/** What each package exports at run time. A new line here is a promise to users. */
const EXPECTED = JSON.parse(readFileSync(join(ROOT, 'test', 'public-names.json'), 'utf8')) as Record<string, string[]>;

describe('the public names', () => {
  for (const [entry, names] of Object.entries(EXPECTED)) {
    it(`of ${entry} match the list`, async () => {
      expect(Object.keys((await import(entry)) as object).sort()).to.deep.equal(names);
    });
  }
});

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROOT } from '../docs/workspace.ts';
import { DIFFERENCES } from './differences.ts';
import { differencesPage } from './differences-page.ts';
import type { Differing } from './observe.ts';
import { compareAll, scenariosOf, type Comparison } from './scenarios.ts';
import { FEATURES } from './scenarios/index.ts';

const GROUPS = Object.values(FEATURES).flat();
const NAMES = GROUPS.flatMap(scenariosOf).map(([name]) => name);
const PAGE = join(ROOT, 'docs', 'envoy-differences.md');
const LEAST = 150;

/** All fields in which a scenario differs, from the list. */
function listed(name: string): Differing {
  return Object.assign({}, ...DIFFERENCES.map(({ scenarios }) => scenarios[name] ?? {})) as Differing;
}

describe('our data plane compared with Envoy', () => {
  let comparison: Comparison;

  before(async function () {
    this.timeout(360_000);
    comparison = await compareAll(GROUPS);
  });

  it('uses resources without errors and warnings', () => {
    expect(comparison.problems).to.deep.equal([]);
  });

  it(`has at least ${LEAST} scenarios with names of their own`, () => {
    expect(NAMES.length).to.be.at.least(LEAST);
    expect(new Set(NAMES).size).to.equal(NAMES.length);
  });

  it('lists differences only of scenarios that exist', () => {
    const known = new Set(NAMES);
    const unknown = DIFFERENCES.flatMap(({ scenarios }) => Object.keys(scenarios)).filter((name) => !known.has(name));
    expect(unknown).to.deep.equal([]);
  });

  for (const [feature, groups] of Object.entries(FEATURES)) {
    describe(feature, () => {
      for (const [name] of groups.flatMap(scenariosOf)) {
        it(name, () => {
          const differing = comparison.differing.get(name)!;
          if (differing instanceof Error) throw differing;
          expect(differing).to.deep.equal(listed(name));
        });
      }
    });
  }

  it('has its differences in docs/envoy-differences.md (UPDATE_GOLDEN=1 writes it)', () => {
    const page = differencesPage(DIFFERENCES);
    if (process.env['UPDATE_GOLDEN']) writeFileSync(PAGE, page);
    expect(readFileSync(PAGE, 'utf8')).to.equal(page);
  });
});

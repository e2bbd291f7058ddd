import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROOT } from '../docs/workspace.ts';
import { DIFFERENCES } from './differences.ts';
import { differingOf } from './differing-in.ts';
import { differencesPage } from './differences-page.ts';
import { compareAll, scenariosOf, type Comparison } from './scenarios.ts';
import { FEATURES } from './scenarios/index.ts';
import { existsIn } from './http2/exists-in.ts';
import { pairName, VERSION_PAIRS } from './versions.ts';

const GROUPS = Object.values(FEATURES).flat();
const SCENARIOS = GROUPS.flatMap(scenariosOf);
const NAMES = SCENARIOS.map(([name]) => name);
const PAGE = join(ROOT, 'docs', 'envoy-differences.md');
const LEAST = 450;
/** Groups with options that Envoy cannot express. */
const UNTRANSLATED = ['without normalizePath:', 'no route to the upstream:'];

/** Requests that the translation lets an Envoy reject, as the gateway does. */
const GUARDED: ReadonlySet<string> = new Set([
  'path: with dot segments encoded twice',
  'path: with dot segments behind an escaped slash',
]);

/** Our translation keeps queries out of the access logs of an Envoy. */
function withoutQueries(differing: Readonly<Record<string, readonly string[]>>) {
  const { 'log path': [ours = '', plain = ''] = [], ...others } = differing;
  return ours === plain.split('?', 1)[0] ? others : differing;
}

describe('our data plane compared with Envoy', () => {
  let comparison: Comparison;

  before(async function () {
    this.timeout(540_000);
    comparison = await compareAll(GROUPS);
  });

  it('uses resources without errors and warnings', () => {
    // One certificate serves all names of the comparison.
    const isExpected = (problem: unknown): boolean => / does not cover /.test(JSON.stringify(problem));
    expect(comparison.problems.filter((each) => !isExpected(each))).to.deep.equal([]);
  });

  it(`has at least ${LEAST} scenarios with names of their own`, () => {
    expect(NAMES.length).to.be.at.least(LEAST);
    expect(new Set(NAMES).size).to.equal(NAMES.length);
  });

  it(`has at least ${LEAST} scenarios in each pair of versions`, () => {
    for (const versions of VERSION_PAIRS) {
      const count = SCENARIOS.filter(([, scenario]) => existsIn(scenario, versions)).length;
      expect(count, pairName(versions)).to.be.at.least(LEAST);
    }
  });

  it('configures an Envoy by xDS without rejections', () => {
    expect(comparison.rejections).to.deep.equal([]);
  });

  it('leaves out of an Envoy only what it cannot express', () => {
    expect(comparison.unserved).to.deep.equal([
      'httpGateway.options.httpConnectionManagerSettings.normalizePath',
      'routeAction.clusterHeader',
    ]);
  });

  it('lists differences only of scenarios that exist', () => {
    const known = new Set(NAMES);
    const listed = DIFFERENCES.flatMap(({ scenarios, http2 = {}, tls = {} }) => [
      scenarios,
      ...Object.values(http2),
      tls,
    ]);
    const unknown = listed.flatMap((each) => Object.keys(each)).filter((name) => !known.has(name));
    expect(unknown).to.deep.equal([]);
  });

  for (const versions of VERSION_PAIRS)
    describe(pairName(versions), () => {
      for (const [feature, groups] of Object.entries(FEATURES)) {
        describe(feature, () => {
          for (const [name, scenario] of groups.flatMap(scenariosOf)) {
            if (!existsIn(scenario, versions)) continue;
            it(name, () => {
              const differing = comparison.differing.get(pairName(versions))!.get(name)!;
              if (differing instanceof Error) throw differing;
              expect(differing).to.deep.equal(differingOf(name, versions));
            });

            if (versions.tls) continue;
            it(`${name}, translated from our resources`, () => {
              const translated = comparison.translated.get(pairName(versions))!.get(name);
              if (translated instanceof Error) throw translated;
              if (UNTRANSLATED.some((group) => name.startsWith(group))) expect(translated).to.equal(undefined);
              else
                expect(withoutQueries(translated!)).to.deep.equal(GUARDED.has(name) ? differingOf(name, versions) : {});
            });
          }
        });
      }
    });

  it('has its differences in docs/envoy-differences.md (UPDATE_GOLDEN=1 writes it)', () => {
    const page = differencesPage(DIFFERENCES);
    if (process.env['UPDATE_GOLDEN']) writeFileSync(PAGE, page);
    expect(readFileSync(PAGE, 'utf8')).to.equal(page);
  });
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeCertificates } from '../parts/certificates.ts';
import { readLog } from './log/read-log.ts';
import { placeGroups, type PlacedGroup } from './placed-group.ts';
import { startEnvoy } from './envoy-data-plane.ts';
import { compare, observe, type Differing, type Observation } from './observe.ts';
import { startOurs } from './our-data-plane.ts';
import type { Case, Group } from './scenario.ts';
import { existsIn } from './http2/exists-in.ts';
import { startXdsEnvoy } from './xds-data-plane.ts';
import { isCompared, pairName, VERSIONS } from './versions.ts';

/** The name of a scenario: that of its group and its own. */
export function scenariosOf(group: Group): [name: string, scenario: Case][] {
  return Object.entries(group.cases).map(([name, given]) => [`${group.name}: ${name}`, caseOf(given)]);
}

function caseOf(given: Group['cases'][string]): Case {
  return typeof given === 'object' && 'request' in given ? given : { request: given };
}

/** How both data planes behave in all scenarios. */
export interface Comparison {
  /** Errors and warnings of our resources. */
  readonly problems: readonly string[];
  /** What differs, by the names of the versions and of the scenario; an empty object if both behave alike. */
  readonly differing: ReadonlyMap<string, ReadonlyMap<string, Differing | Error>>;
  /** The same for an Envoy that receives our resources by xDS, compared with the Envoy. Missing for what it does not serve. */
  readonly translated: ReadonlyMap<string, ReadonlyMap<string, Differing | Error>>;
  /** Options that it does not serve, and what it rejected. */
  readonly unserved: readonly string[];
  readonly rejections: readonly string[];
}

type Results = Map<string, Map<string, Differing | Error>>;

/** Groups run side by side: most scenarios wait for timers. */
const PARALLEL = 16;

/** Runs every scenario in every pair of versions that it exists in, on our data plane and on Envoy. */
export async function compareAll(groups: readonly Group[]): Promise<Comparison> {
  const certificates = makeCertificates();
  const placed = await placeGroups(groups, certificates);
  const directory = mkdtempSync(join(tmpdir(), 'access-logs-'));
  const logPaths = ['envoy', 'ours', 'xds'].map((name) => join(directory, name)) as [string, string, string];
  const envoy = await startEnvoy(placed, logPaths[0]);
  const ours = await startOurs(placed, logPaths[1]);
  // How certificates reach an Envoy has tests of its own.
  const xds = await startXdsEnvoy(
    placed.filter((group) => group.certificates === undefined),
    logPaths[2],
  );
  const logs = logPaths.map(readLog);
  const differing: Results = new Map();
  const translated: Results = new Map();
  const unserved = new Set(xds.problems.map(({ ref }) => ref.name));

  async function compareGroup(group: PlacedGroup): Promise<void> {
    for (const [name, scenario] of scenariosOf(group))
      for (const client of VERSIONS) {
        const versions = { client, upstream: group.upstreamVersion, tls: group.certificates !== undefined };
        if (!isCompared(versions) || !existsIn(scenario, versions)) continue;
        const note = (results: Results, result: Differing | Error): void => {
          const pair = results.get(pairName(versions)) ?? new Map<string, Differing | Error>();
          results.set(pairName(versions), pair.set(name, result));
        };
        const isUnserved = versions.tls || unserved.has(group.listener) || unserved.has(`${group.id}-0`);
        const planes = [envoy, ours, ...(isUnserved ? [] : [xds])];
        try {
          const observations: Observation[] = [];
          for (const [index, { port }] of planes.entries()) {
            const plane = { port: port(group.listener), log: logs[index]! };
            observations.push(await observe(group, scenario, client, plane));
          }
          const [expected, own, byXds] = observations;
          note(differing, compare(own!, expected!));
          if (byXds) note(translated, compare(byXds, expected!));
        } catch (error) {
          note(differing, error as Error);
        }
      }
  }

  try {
    const waiting = [...placed];
    const work = async (): Promise<void> => {
      for (let next = waiting.shift(); next; next = waiting.shift()) await compareGroup(next);
    };
    await Promise.all(Array.from({ length: PARALLEL }, work));
  } finally {
    await xds.close();
    await envoy.close();
    await ours.close();
    await Promise.all(placed.flatMap(({ up, other }) => [up.close(), other.close()]));
    certificates.remove();
    rmSync(directory, { recursive: true });
  }
  return {
    problems: ours.problems,
    differing,
    translated,
    unserved: [...new Set(xds.problems.flatMap(({ options }) => options))].sort(),
    rejections: xds.rejections,
  };
}

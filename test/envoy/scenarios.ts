import { placeGroups, type PlacedGroup } from './placed-group.ts';
import { startEnvoy } from './envoy-data-plane.ts';
import { compare, observe, type Differing } from './observe.ts';
import { startOurs } from './our-data-plane.ts';
import type { Case, Group } from './scenario.ts';
import { existsIn } from './http2/exists-in.ts';
import { pairName, VERSIONS, type Version } from './versions.ts';

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
}

/** Groups run side by side: most scenarios wait for timers. */
const PARALLEL = 8;

/** Runs every scenario in every pair of versions that it exists in, on our data plane and on Envoy. */
export async function compareAll(groups: readonly Group[]): Promise<Comparison> {
  const placed = await placeGroups(groups);
  const envoy = await startEnvoy(placed);
  const ours = await startOurs(placed);
  const differing = new Map<string, Map<string, Differing | Error>>();

  async function compareGroup(group: PlacedGroup): Promise<void> {
    for (const [name, scenario] of scenariosOf(group))
      for (const client of VERSIONS) {
        const versions = { client, upstream: group.upstreamVersion };
        if (!existsIn(scenario, versions)) continue;
        const results = differing.get(pairName(versions)) ?? new Map<string, Differing | Error>();
        differing.set(pairName(versions), results);
        results.set(name, await compareOne(group, scenario, client));
      }
  }

  async function compareOne(group: PlacedGroup, scenario: Case, client: Version): Promise<Differing | Error> {
    try {
      const one = await observe(group, scenario, client, ours.port(group.listener));
      const other = await observe(group, scenario, client, envoy.port(group.listener));
      return compare(one, other);
    } catch (error) {
      return error as Error;
    }
  }

  try {
    const waiting = [...placed];
    const work = async (): Promise<void> => {
      for (let next = waiting.shift(); next; next = waiting.shift()) await compareGroup(next);
    };
    await Promise.all(Array.from({ length: PARALLEL }, work));
  } finally {
    await envoy.close();
    await ours.close();
    await Promise.all(placed.flatMap(({ up, other }) => [up.close(), other.close()]));
  }
  return { problems: ours.problems, differing };
}

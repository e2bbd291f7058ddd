import type { Algorithm } from './algorithm.ts';
import { leastRequest } from './least-request.ts';
import type { AlgorithmName, LoadSettings } from './load-settings.ts';
import { maglev } from './maglev.ts';
import { random } from './random.ts';
import { ringHash } from './ring-hash.ts';
import { roundRobin } from './round-robin.ts';

const CREATE: Readonly<Record<AlgorithmName, (settings: LoadSettings) => Algorithm>> = {
  roundRobin: ({ slowStart }) => roundRobin(slowStart),
  leastRequest,
  random: () => random,
  ringHash,
  maglev,
};

/** Returns the algorithm of an upstream. */
export function algorithmOf(settings: LoadSettings): Algorithm {
  return CREATE[settings.algorithm](settings);
}

/** True if the algorithm chooses by the hash of a request. Its tables are large, so that changes are merged. */
export function usesHash({ algorithm }: LoadSettings): boolean {
  return algorithm === 'ringHash' || algorithm === 'maglev';
}

import type { Problem } from '../../resource/problem.ts';
import { keyOf, type Kind, type ResourceKey } from '../../resource/resource.ts';
import type { StoreState } from '../../resource/stored.ts';

/** More earlier states are not kept: the oldest is forgotten. */
const MAX_MOMENTS = 64;

type Stored = StoreState['stored'];

/** A state on which last good versions depend. */
interface Moment {
  readonly stored: Stored;
  /** Resources that had no problem at that time and have one since. */
  readonly waiting: Set<ResourceKey>;
}

/**
 * The states that produced what is served now. The newest one is enough while no resource has a problem. A virtual service whose references broke serves
 * what an earlier state made of it, so that state is kept until the problem is solved.
 */
export interface History {
  /** Adds a state with its problems. */
  add(stored: Stored, issues: readonly Problem[]): void;
  /** The states in order; the last one is the newest. */
  readonly states: readonly Stored[];
}

/** Creates a history without states. */
export function createHistory(): History {
  let moments: readonly Moment[] = [];
  let newest: Stored | undefined;
  let broken: ReadonlySet<ResourceKey> = new Set();

  return {
    add(stored, issues) {
      if (stored === newest) return;
      const before = newest;
      const now = new Set(issues.flatMap((issue) => (mayServeEarlier(issue) ? resourceOf(issue) : [])));
      const waiting = new Set([...now].filter((key) => !broken.has(key) && (before?.has(key) || !stored.has(key))));
      for (const moment of moments) for (const key of moment.waiting) if (!now.has(key)) moment.waiting.delete(key);
      moments = moments.filter(({ waiting }) => waiting.size > 0);
      if (before && waiting.size > 0) moments = [...moments, { stored: before, waiting }].slice(-MAX_MOMENTS);
      newest = stored;
      broken = now;
    },
    get states() {
      return [...moments.map(({ stored }) => stored), ...(newest ? [newest] : [])];
    },
  };
}

/** True for a problem because of which an earlier version may be served. */
export function mayServeEarlier({ severity, code }: Problem): boolean {
  return severity === 'error' || code === 'MISSING_REFERENCE' || code === 'STATUS';
}

function resourceOf({ kind, namespace, name }: Problem): ResourceKey[] {
  return kind === undefined || namespace === undefined || name === undefined
    ? []
    : [keyOf(kind as Kind, { namespace, name })];
}

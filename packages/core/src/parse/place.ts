import type { FieldPath } from '../resource/problem.ts';

/** Where a value and its key stand, as offsets, and the places of what is in it. */
export interface Place {
  readonly offset: number;
  readonly keyOffset: number;
  readonly children?: Map<string | number, Place>;
}

/** The place of a path, or of the nearest parent that is written. */
export function findPlace(root: Place, path: FieldPath): Place {
  let place = root;
  for (const step of path) {
    const next = place.children?.get(step);
    if (!next) break;
    place = next;
  }
  return place;
}

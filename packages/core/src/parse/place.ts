import type { FieldPath } from '../resource/problem.ts';

/** The offsets of a value and its key, and the positions inside the value. */
export interface Place {
  readonly offset: number;
  readonly keyOffset: number;
  readonly children?: Map<string | number, Place>;
}

/** Returns the position of a path, or of its nearest existing parent. */
export function findPlace(root: Place, path: FieldPath): Place {
  let place = root;
  for (const step of path) {
    const next = place.children?.get(step);
    if (!next) break;
    place = next;
  }
  return place;
}

/**
 * Returns the destination whose share covers `point`, from 0 up to (not including) the sum of the weights. A share of 0 is never chosen.
 */
export function destinationAt<D extends { readonly weight: number }>(
  destinations: readonly D[],
  point: number,
): D | undefined {
  let left = point;
  for (const destination of destinations) {
    if (left < destination.weight) return destination;
    left -= destination.weight;
  }
  return undefined;
}

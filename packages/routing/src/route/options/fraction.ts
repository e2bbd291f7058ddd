/** Returns true for this share of calls, at random. */
export function isChosen(share: number): boolean {
  return share >= 1 || (share > 0 && Math.random() < share);
}

import type { GatewayError } from '../errors.ts';

/** Charges a request for work that only its action knows; resolves with the error to respond with if it must not be executed. */
export type ComplexityCharge = (complexity: number) => Promise<GatewayError | undefined>;

/**
 * Runs the charges that concerns registered, in their order, before the work is done. Throws the error of the first one that denies;
 * the later ones are not charged then. Returns `undefined` at once if there are none.
 */
export function chargeComplexity(
  { complexityCharges }: { readonly complexityCharges: readonly ComplexityCharge[] | undefined },
  complexity: number,
): Promise<void> | undefined {
  if (!complexityCharges || complexityCharges.length === 0) return undefined;
  return runCharges(complexityCharges, complexity);
}

async function runCharges(charges: readonly ComplexityCharge[], complexity: number): Promise<void> {
  for (const charge of charges) {
    const denial = await charge(complexity);
    if (denial) throw denial;
  }
}

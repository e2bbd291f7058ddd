import type { GatewayError } from '../errors.ts';

/** Charges a request for work that only its action knows; resolves with the error to respond with if it must not be executed. */
export type ComplexityCharge = (complexity: number) => Promise<GatewayError | undefined>;

/** Charges one operation of a WebSocket as the request was charged that opened it; resolves as {@link ComplexityCharge}. */
export type OperationCharge = () => Promise<GatewayError | undefined>;

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

/**
 * Runs the charges for one operation of a WebSocket, in the order of the concerns that registered them. Throws the error of the first one
 * that denies. Returns `undefined` at once if there are none.
 */
export function chargeOperation({
  operationCharges,
}: {
  readonly operationCharges: readonly OperationCharge[] | undefined;
}): Promise<void> | undefined {
  return operationCharges && operationCharges.length > 0 ? runCharges(operationCharges, 1) : undefined;
}

async function runCharges(charges: readonly ComplexityCharge[], complexity: number): Promise<void> {
  for (const charge of charges) {
    const denial = await charge(complexity);
    if (denial) throw denial;
  }
}

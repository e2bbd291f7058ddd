import { gatewayNamespace } from '@edge-gateway/core';
import type { ExtProcRoute } from '@edge-gateway/core/schema';
import { processorBlockOf, type ProcessorFamily } from '../../ext-proc/ext-proc.ts';
import type { BlockOf, Effect, EffectInput } from './effect.ts';

/** An external processor may change anything, or respond itself; an explanation does not call it. */
export function processorEffect(option: ProcessorFamily): (input: EffectInput) => Effect | undefined {
  const concern: BlockOf<ExtProcRoute> = { option };
  return ({ blockOf, shared }) => {
    const route = blockOf(concern);
    const block = route && processorBlockOf(option, route, shared);
    const { name, namespace } = block?.grpcService?.extProcServerRef ?? {};
    if (!block || !name) return undefined;
    const server = `${namespace || gatewayNamespace()}/${name}`;
    return { option, effect: `upstream ${server} may change the request or respond (not called by this command)` };
  };
}

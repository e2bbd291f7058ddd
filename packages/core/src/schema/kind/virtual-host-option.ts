import { anything, block, list, named, of, type Static } from '../field.ts';
import { VirtualHostOptions } from '../route/route-options.ts';

const fields = block({
  options: of(VirtualHostOptions, 'The options.'),
  targetRefs: list(anything(), 'Only used with the Kubernetes Gateway API.'),
});
/** `spec` of a VirtualHostOption. */
export interface VirtualHostOptionSpec extends Static<typeof fields> {}
export const VirtualHostOptionSpec = named<VirtualHostOptionSpec>('VirtualHostOptionSpec', fields);

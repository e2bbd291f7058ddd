import * as f from '../field.ts';
import { VirtualHostOptions } from '../route/route-options.ts';

const fields = f.block({
  options: f.of(VirtualHostOptions, 'The options.'),
  targetRefs: f.list(f.anything(), 'Only used with the Kubernetes Gateway API.'),
});
/** `spec` of a VirtualHostOption. */
export interface VirtualHostOptionSpec extends f.Static<typeof fields> {}
export const VirtualHostOptionSpec = f.named<VirtualHostOptionSpec>('VirtualHostOptionSpec', fields);

import { WeightedDestination } from '../route/destination.ts';
import * as f from '../field.ts';

const fields = f.block({
  destinations: f.list(WeightedDestination, 'Destinations. Default namespace of an upstream: that of the group.'),
});
/** `spec` of an UpstreamGroup. */
export interface UpstreamGroupSpec extends f.Static<typeof fields> {}
export const UpstreamGroupSpec = f.named<UpstreamGroupSpec>('UpstreamGroupSpec', fields);

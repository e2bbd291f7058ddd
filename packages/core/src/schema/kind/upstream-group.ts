import { WeightedDestination } from '../route/destination.ts';
import { block, list, named, type Static } from '../field.ts';

const fields = block({
  destinations: list(WeightedDestination, 'Destinations. Default namespace of an upstream: that of the group.'),
});
/** `spec` of an UpstreamGroup. */
export interface UpstreamGroupSpec extends Static<typeof fields> {}
export const UpstreamGroupSpec = named<UpstreamGroupSpec>('UpstreamGroupSpec', fields);

import * as f from '../field.ts';
import { ListenerOptions } from '../listener/gateway-options.ts';

const target = f.block({
  group: f.text('API group of the Gateway: `gateway.networking.k8s.io` or `gateway.vendor.io`.', {
    default: 'gateway.networking.k8s.io',
  }),
  kind: f.text('`Gateway`.', { default: 'Gateway' }),
  name: f.text('Name of the Gateway.'),
  namespace: f.text('Namespace of the Gateway, which must be that of these options. Default: that.'),
  sectionName: f.text(
    'Name of one listener of the Gateway. Listeners with the same port share their options. Default: all listeners.',
  ),
});
/** A Gateway to which options are attached. */
export interface TargetRef extends f.Static<typeof target> {}
export const TargetRef = f.named<TargetRef>('TargetRef', target);

const fields = f.block({
  targetRefs: f.list(TargetRef, 'Gateways to which the options are attached. Empty: none.'),
  options: f.of(ListenerOptions, 'The options, as `options` of a Gateway.'),
});
/** `spec` of a ListenerOption. */
export interface ListenerOptionSpec extends f.Static<typeof fields> {}
export const ListenerOptionSpec = f.named<ListenerOptionSpec>('ListenerOptionSpec', fields);

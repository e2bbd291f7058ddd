import * as f from '../field.ts';
import { HttpListenerOptions } from '../listener/gateway-options.ts';
import { TargetRef } from './listener-option.ts';

const fields = f.block({
  targetRefs: f.list(TargetRef, 'Gateways to which the options are attached. Empty: none.'),
  options: f.of(HttpListenerOptions, 'The options, as `httpGateway.options` of a Gateway.'),
});
/** `spec` of an HttpListenerOption. */
export interface HttpListenerOptionSpec extends f.Static<typeof fields> {}
export const HttpListenerOptionSpec = f.named<HttpListenerOptionSpec>('HttpListenerOptionSpec', fields);

import * as f from '../field.ts';
import { RouteSpec } from '../route/route.ts';
import { VirtualHostOptions } from '../route/route-options.ts';
import { SslConfig } from '../listener/ssl-config.ts';

const virtualHost = f.block(f.beside('headerManipulation', 'jwt', 'rbac'), {
  domains: f.texts(
    'Hosts that it serves: exact, `*.suffix`, `prefix.*` or `*`; a port is part of the comparison. Empty: `*`.',
  ),
  routes: f.list(RouteSpec, 'The routes; the first match is used.'),
  options: f.of(VirtualHostOptions, 'Options of the virtual host.'),
  optionsConfigRefs: f.group('Options in other resources.', {
    delegateOptions: f.list(
      f.ref(),
      'VirtualHostOptions; inline options take precedence, then earlier entries. The last good options of a reference stay in use if a change breaks it or their resource is deleted. Without any, requests are served without the options.',
    ),
  }),
});
/** The virtual host of a virtual service. */
export interface VirtualHostSpec extends f.Static<typeof virtualHost> {}
export const VirtualHostSpec = f.named<VirtualHostSpec>('VirtualHost', virtualHost);

const fields = f.block({
  displayName: f.text('Display name.'),
  virtualHost: f.of(VirtualHostSpec, 'Domains and routes.'),
  sslConfig: f.of(SslConfig, 'If set, only gateways with `ssl: true` serve it; otherwise only the others.'),
});
/** `spec` of a VirtualService. */
export interface VirtualServiceSpec extends f.Static<typeof fields> {}
export const VirtualServiceSpec = f.named<VirtualServiceSpec>('VirtualServiceSpec', fields);

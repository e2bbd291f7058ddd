import { block, list, named, of, ref, text, type Static } from '../field.ts';
import { RouteSpec } from '../route/route.ts';
import { VirtualHostOptions } from '../route/route-options.ts';
import { SslConfig } from '../listener/ssl-config.ts';

const virtualHost = block(
  {
    domains: list(
      text(),
      'Hosts that it serves: exact, `*.suffix`, `prefix.*` or `*`; a port is part of the comparison. Empty: `*`.',
    ),
    routes: list(RouteSpec, 'The routes; the first match is used.'),
    options: of(VirtualHostOptions, 'Options of the virtual host.'),
    optionsConfigRefs: of(
      block({
        delegateOptions: list(
          ref(),
          'VirtualHostOptions; inline options take precedence, then earlier entries. The last good options of a reference stay in use if a change breaks it or their resource is deleted.',
        ),
      }),
      'Options in other resources.',
    ),
  },
  { beside: ['headerManipulation', 'jwt', 'rbac'] },
);
/** The virtual host of a virtual service. */
export interface VirtualHostSpec extends Static<typeof virtualHost> {}
export const VirtualHostSpec = named<VirtualHostSpec>('VirtualHost', virtualHost);

const fields = block({
  displayName: text('Display name.'),
  virtualHost: of(VirtualHostSpec, 'Domains and routes.'),
  sslConfig: of(SslConfig, 'If set, only gateways with `ssl: true` serve it; otherwise only the others.'),
});
/** `spec` of a VirtualService. */
export interface VirtualServiceSpec extends Static<typeof fields> {}
export const VirtualServiceSpec = named<VirtualServiceSpec>('VirtualServiceSpec', fields);

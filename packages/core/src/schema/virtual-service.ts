import { block, list, named, of, ref, text, type Static } from './field.ts';
import { RouteSpec } from './route.ts';
import { VirtualHostOptions } from './route-options.ts';
import { SslConfig } from './ssl-config.ts';

const virtualHost = block(
  {
    domains: list(
      text(),
      'Hosts it answers: exact, `*.suffix`, `prefix.*` or `*`; a port is part of the comparison. Empty: `*`.',
    ),
    routes: list(RouteSpec, 'The routes; the first that fits is taken.'),
    options: of(VirtualHostOptions, 'Options of the virtual host.'),
    optionsConfigRefs: of(
      block({
        delegateOptions: list(
          ref(),
          'VirtualHostOptions; the inline options win, then the order counts. The last good options of a reference stay in force when a change breaks it or their resource is deleted.',
        ),
      }),
      'Options kept in other resources.',
    ),
  },
  { beside: ['headerManipulation', 'jwt', 'rbac'] },
);
/** The virtual host of a virtual service. */
export interface VirtualHostSpec extends Static<typeof virtualHost> {}
export const VirtualHostSpec = named<VirtualHostSpec>('VirtualHost', virtualHost);

const fields = block({
  displayName: text('Name for people.'),
  virtualHost: of(VirtualHostSpec, 'Domains and routes.'),
  sslConfig: of(SslConfig, 'Present: served by gateways with `ssl: true` only; absent: by the others only.'),
});
/** `spec` of a VirtualService. */
export interface VirtualServiceSpec extends Static<typeof fields> {}
export const VirtualServiceSpec = named<VirtualServiceSpec>('VirtualServiceSpec', fields);

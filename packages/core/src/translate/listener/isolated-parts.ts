import { keyOf, type Resource } from '../../resource/resource.ts';
import type { SslConfig } from '../../schema/listener/ssl-config.ts';
import type { VirtualServiceSpec } from '../../schema/kind/virtual-service.ts';
import type { TranslationInput } from '../input.ts';
import type { TranslationSettings } from '../translation-settings.ts';
import { contentOf } from '../snapshot/content.ts';
import { Report } from '../status/report.ts';
import { effectiveConfig } from '../tls/listener-tls.ts';
import type { InnerGateway } from './inner-gateway.ts';
import type { UsedGateway } from './gateways.ts';
import { selectVirtualServices } from './selection.ts';

/** Requires one part per TLS configuration. */
const ISOLATE_ANNOTATION = 'gateway.vendor.io/isolate_vhost';

/** Returns true if each TLS configuration of a gateway serves only its own virtual hosts. */
export function isIsolated({ spec, stored }: UsedGateway, settings: TranslationSettings): boolean {
  const annotation = stored?.resource?.metadata.annotations?.[ISOLATE_ANNOTATION];
  return spec.ssl === true && (annotation === undefined ? settings.isolateVirtualHosts : annotation === 'true');
}

/** Returns one inner gateway for each TLS configuration of the virtual services, regardless of their server names. */
export function isolatedParts({ spec, ref }: UsedGateway, input: TranslationInput): readonly InnerGateway[] {
  const at = ['spec', 'httpGateway'];
  const http = spec.httpGateway ?? {};
  const owner = keyOf('Gateway', ref);
  const { namespace } = ref;
  // Each part reports the problems of the selection.
  const selector = { http, ssl: true, namespace, report: new Report(), at };
  const configOf = ({ metadata, spec: { sslConfig = {} } }: Resource<VirtualServiceSpec>): SslConfig =>
    input.derived.of(effectiveConfig, sslConfig, metadata.namespace, input.settings.oneWayTls);
  const configs = new Map<string, SslConfig>();
  for (const { resource } of selectVirtualServices(selector, input)) {
    const config = configOf(resource as Resource<VirtualServiceSpec>);
    configs.set(contentOf(config, input.derived), config);
  }
  return [...configs]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, sslConfig]) => ({
      owner,
      at,
      namespace,
      http,
      matcher: { sslConfig },
      selects: (resource) => contentOf(configOf(resource), input.derived) === key,
    }));
}

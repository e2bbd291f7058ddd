import type { EnvoyServices } from '@edge-gateway/core/envoy';
import type { Translation } from '../server/translation.ts';
import { createEnvoyEncoder, type OnProblems } from './encode-envoy.ts';
import { ENVOY_TYPE, ENVOY_TYPES } from '../resources/envoy-types.ts';

/**
 * Creates the translation for Envoys: listeners, routes, clusters, endpoints and certificates of Envoy's v3 API. It runs while an Envoy is
 * subscribed. `onProblems` receives what neither Envoys nor Node proxies serve.
 *
 * @example
 * const envoys = createEnvoyTranslation({ nodeProxies: 'gateway-proxy' });
 * createDiscoveryServer({ log, metrics, translations: [NODE_TRANSLATION, envoys] });
 */
export function createEnvoyTranslation(services: EnvoyServices, onProblems?: OnProblems): Translation {
  return {
    types: ENVOY_TYPES,
    // A cluster that becomes ready slowly must not delay the endpoints of others.
    independent: new Set([ENVOY_TYPE.endpoints]),
    confidential: new Set([ENVOY_TYPE.secret]),
    create: () => createEnvoyEncoder(services, onProblems),
  };
}

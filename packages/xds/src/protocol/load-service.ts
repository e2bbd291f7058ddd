import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { ServiceDefinition } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';

/** The published definitions of Envoy's API, with what they import. */
export const ENVOY_API = join(
  dirname(createRequire(import.meta.url).resolve('@edge-gateway/xds/package.json')),
  'envoy-api',
);

/** Loads the definition of a service of Envoy's API. */
export function loadService(file: string, name: string): ServiceDefinition {
  const loaded = loadSync(file, {
    keepCase: true,
    longs: Number,
    defaults: true,
    oneofs: true,
    includeDirs: [ENVOY_API],
  });
  return loaded[name] as ServiceDefinition;
}

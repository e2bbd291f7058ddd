import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { ServiceDefinition } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';

const DEPENDENCIES = join(dirname(createRequire(import.meta.url).resolve('@grpc/grpc-js-xds/package.json')), 'deps');

/** Loads the definition of a service of Envoy's API. */
export function loadService(file: string, name: string): ServiceDefinition {
  const loaded = loadSync(file, {
    keepCase: true,
    longs: Number,
    defaults: true,
    oneofs: true,
    includeDirs: ['envoy-api', 'xds', 'googleapis', 'protoc-gen-validate'].map((each) => join(DEPENDENCIES, each)),
  });
  return loaded[name] as ServiceDefinition;
}

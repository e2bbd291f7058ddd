import {
  createControlPlane,
  directorySource,
  memorySource,
  severalSources,
  type ControlPlane,
  type Loggers,
  type MemorySource,
  type Metrics,
  type ResourceCheck,
} from '@edge-gateway/core';
import { accessChecks } from '@edge-gateway/rbac';
import { transcoderChecks, transcoderFiles } from '@edge-gateway/routing/grpc-json';
import type { TranslatingSettings } from '../settings.ts';
import { lazyDescriptorFiles, lazyGraphQLCheck } from './graphql-parts.ts';

interface ConfigurationParts {
  readonly settings: TranslatingSettings;
  /** Of the default gateways. */
  readonly proxyName: string;
  readonly log: Loggers;
  readonly metrics: Metrics;
  /** Further checks of resources. */
  readonly checks?: readonly ResourceCheck[];
}

/** What translates the resources of a directory for proxies. */
export interface Configuration {
  readonly controlPlane: ControlPlane;
  /** Receives discovered resources. */
  readonly found: MemorySource;
}

/** Creates the control plane on the directory of the settings. */
export function createConfiguration(parts: ConfigurationParts): Configuration {
  const { settings, proxyName, log, metrics, checks = [] } = parts;
  const found = memorySource();
  const controlPlane = createControlPlane({
    source: severalSources([directorySource(settings.config, { log: log.get('config') }), found]),
    defaultGateways: { httpPort: settings.httpPort, httpsPort: settings.httpsPort, proxyName },
    log,
    metrics,
    checks: [lazyGraphQLCheck, ...transcoderChecks, ...accessChecks, ...checks],
    files: [lazyDescriptorFiles(settings.config), transcoderFiles(settings.config)],
  });
  return { controlPlane, found };
}

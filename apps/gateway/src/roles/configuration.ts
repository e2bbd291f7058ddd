import {
  createControlPlane,
  memorySource,
  severalSources,
  type ClusterServices,
  type ControlPlane,
  type Loggers,
  type MemorySource,
  type Metrics,
  type ResourceCheck,
  type Source,
} from '@edge-gateway/core';
import { accessChecks } from '@edge-gateway/rbac';
import type { ListeningSettings } from '../settings.ts';
import { lazyDescriptorFiles, lazyGraphQLCheck } from './graphql-parts.ts';
import { lazyTranscoderChecks, lazyTranscoderFiles } from './transcoder-parts.ts';

interface ConfigurationParts {
  readonly settings: Pick<ListeningSettings, 'httpPort' | 'httpsPort'>;
  readonly source: Source;
  /** Directory of the files that resources name. */
  readonly directory: string;
  /** Whether the source reads that directory. */
  readonly isDirectory: boolean;
  /** The Services of the cluster, if there is one. */
  readonly services?: ClusterServices | undefined;
  /** Of the default gateways. */
  readonly proxyName: string;
  readonly log: Loggers;
  readonly metrics: Metrics;
  /** Further checks of resources. */
  readonly checks?: readonly ResourceCheck[];
}

/** What translates resources for proxies. */
export interface Configuration {
  readonly controlPlane: ControlPlane;
  /** Receives discovered resources. */
  readonly found: MemorySource;
}

/** Creates the control plane on a source. */
export function createConfiguration(parts: ConfigurationParts): Configuration {
  const { settings, source, services, directory, isDirectory, proxyName, log, metrics, checks = [] } = parts;
  const found = memorySource();
  const controlPlane = createControlPlane({
    source: severalSources([source, found]),
    ...(services && { services }),
    defaultGateways: { httpPort: settings.httpPort, httpsPort: settings.httpsPort, proxyName },
    directories: { base: directory, isRead: isDirectory },
    log,
    metrics,
    checks: [lazyGraphQLCheck, ...lazyTranscoderChecks, ...accessChecks, ...checks],
    files: [lazyDescriptorFiles(directory), lazyTranscoderFiles(directory)],
  });
  return { controlPlane, found };
}

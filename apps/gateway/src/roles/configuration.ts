import {
  acceptedFile,
  createControlPlane,
  deriveKey,
  memorySource,
  readKeyFile,
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
import type { StateSettings } from '../command-line/role.ts';
import { acceptedPath } from './state-directory.ts';

/** Purpose of the key that encrypts accepted resources. */
const ACCEPTED = 'accepted resources';

interface ConfigurationParts {
  readonly settings: Pick<ListeningSettings, 'httpPort' | 'httpsPort'> & StateSettings;
  readonly source: Source;
  /** Identifies the source among those of other processes: accepted resources are kept for each one. Default: they are not kept. */
  readonly sourceId?: string;
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

/** Creates the control plane on a source. Throws `ERR_CORE_KEY_FILE` if the key file is unusable. */
export function createConfiguration(parts: ConfigurationParts): Configuration {
  const { settings, source, sourceId, services, directory, isDirectory, proxyName, log, metrics, checks = [] } = parts;
  const found = memorySource();
  const { stateDir, snapshotKeyFile } = settings;
  const key = snapshotKeyFile === undefined ? undefined : deriveKey(readKeyFile(snapshotKeyFile), ACCEPTED);
  const path = stateDir === undefined || sourceId === undefined ? undefined : acceptedPath(stateDir, sourceId);
  const accepted = path === undefined ? undefined : acceptedFile({ path, key, log: log.get('config'), metrics });
  const controlPlane = createControlPlane({
    source: severalSources([source, found]),
    ...(services && { services }),
    defaultGateways: { httpPort: settings.httpPort, httpsPort: settings.httpsPort, proxyName },
    directories: { base: directory, isRead: isDirectory },
    log,
    metrics,
    checks: [lazyGraphQLCheck, ...lazyTranscoderChecks, ...accessChecks, ...checks],
    files: [lazyDescriptorFiles(directory), lazyTranscoderFiles(directory)],
    ...(accepted && { accepted }),
  });
  return { controlPlane, found };
}

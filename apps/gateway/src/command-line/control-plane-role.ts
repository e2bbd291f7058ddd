import { isIP } from 'node:net';
import { PORT_FLAGS, type ListeningSettings } from '../settings.ts';
import type { HostPort } from '@edge-gateway/core/envoy';
import { readServerAddresses } from '@edge-gateway/xds/address';
import { parseClientNames, type ClientName } from '@edge-gateway/xds/client-names';
import { InvalidArgumentError } from 'commander';
import * as flags from './flags.ts';
import type { Role, SourceSettings, StateSettings } from './role.ts';

/** The xDS port. */
export const XDS_PORT = { flag: '--xds-port', fallback: 9977, what: 'configuration for proxies (xDS)' } as const;

/** The port of the validating admission webhook. */
export const VALIDATION_PORT = {
  flag: '--validation-port',
  what: 'validation of changes for the API server (webhook); requires --kubernetes',
} as const;

/** The ports of a control plane. Its proxies open the default gateways. */
const { httpPort, httpsPort, statsPort, devAdminPort } = PORT_FLAGS;
const PORTS = { xdsPort: XDS_PORT, statsPort, devAdminPort, httpPort, httpsPort };

export interface ControlPlaneSettings extends SourceSettings, ListeningSettings, StateSettings {
  readonly xdsPort: number;
  /** False: Services of a cluster are not written as Upstreams, because another process does that. */
  readonly discovery?: boolean;
  /** Address of the port for proxies. Default 127.0.0.1. */
  readonly xdsAddress: string;
  /** PEM files with certificate and private key of the port for proxies. Default: plain text, for proxies on this machine only. */
  readonly xdsTlsCert?: string;
  readonly xdsTlsKey?: string;
  /** PEM file with the CA certificates for client certificates of proxies. Default: no client certificate is required. */
  readonly xdsTlsClientCa?: string;
  /** Clients on other machines that receive secrets over TLS: those with a verified certificate, or any. */
  readonly xdsSecrets: 'verified' | 'any';
  /** Names of which the client certificate of each proxy must have one. Default: only certificates that name proxies are bound to them. */
  readonly xdsClientNames?: readonly ClientName[];
  /** Host of Node proxies with the same listeners, to which Envoys hand over what they cannot express. */
  readonly envoyNodeProxies?: string;
  /** The auth server that Envoys call for AuthConfigs. */
  readonly envoyExtauth?: HostPort;
  /** The rate limit server that Envoys call. */
  readonly envoyRateLimit?: HostPort;
  /** Files of the Envoys with the CA certificates for both servers, and with their own certificate. Default: plain text. */
  readonly envoyServicesCa?: string;
  readonly envoyServicesCert?: string;
  readonly envoyServicesKey?: string;
  /** Port of the validating admission webhook, which the API server calls. Default: none. */
  readonly validationPort?: number;
  /** Address of that port. Default 127.0.0.1. */
  readonly validationAddress: string;
  /** DNS names and IP addresses by which the API server reaches that port. Default: the Service `gw` of the namespace. */
  readonly validationNames?: readonly string[];
  /** Name of the ValidatingWebhookConfiguration whose `caBundle` is set. Default: that of the chart. */
  readonly validationWebhook?: string;
  /** PEM file with the CA certificates for the client certificate of the API server. Default: no client certificate is required. */
  readonly validationClientCa?: string;
}

function problemOf(settings: ControlPlaneSettings): string | undefined {
  const { xdsClientNames, xdsTlsClientCa } = settings;
  if (xdsClientNames !== undefined && xdsTlsClientCa === undefined)
    return '--xds-client-names requires --xds-tls-client-ca';
  return flags.sourceProblem(settings) ?? envoyProblem(settings) ?? validationProblem(settings);
}

function validationProblem({ config, validationPort, validationClientCa }: ControlPlaneSettings): string | undefined {
  if (validationPort === undefined)
    return validationClientCa === undefined ? undefined : `--validation-client-ca requires ${VALIDATION_PORT.flag}`;
  return config === undefined ? undefined : `${VALIDATION_PORT.flag} requires --kubernetes, not --config`;
}

function envoyProblem(settings: ControlPlaneSettings): string | undefined {
  const {
    envoyExtauth,
    envoyRateLimit,
    envoyServicesCa: ca,
    envoyServicesCert: cert,
    envoyServicesKey: key,
  } = settings;
  if (ca !== undefined && !envoyExtauth && !envoyRateLimit)
    return '--envoy-services-ca requires --envoy-extauth or --envoy-rate-limit';
  if ((cert === undefined) === (key === undefined) && (cert === undefined || ca !== undefined)) return undefined;
  return '--envoy-services-cert and --envoy-services-key require each other and --envoy-services-ca';
}

/** The control plane: translates the resources of a directory or a cluster for proxies, which connect to it. */
export const controlPlaneRole: Role<ControlPlaneSettings> = {
  name: 'control-plane',
  description: 'Sends the configuration from a directory or a Kubernetes cluster to proxies (xDS).',
  ports: PORTS,
  check: problemOf,
  options: () => [
    ...flags.sourceOptions(),
    ...Object.values(PORTS).map(flags.portOption),
    flags.option('--no-discovery', 'do not create Upstreams for Services; the role discovery does that'),
    flags.option('--xds-address <address>', 'address of the port for proxies').default('127.0.0.1'),
    flags.option(
      '--xds-tls-cert <file>',
      'PEM file with the certificate of the port for proxies; requires --xds-tls-key',
    ),
    flags.option('--xds-tls-key <file>', 'PEM file with the private key of the certificate'),
    flags.option('--xds-tls-client-ca <file>', 'PEM file with the CA certificates for client certificates of proxies'),
    flags
      .option(
        '--xds-secrets <clients>',
        'clients on other machines that receive secrets over TLS: verified by --xds-tls-client-ca, or any',
      )
      .choices(['verified', 'any'])
      .default('verified'),
    flags
      .option(
        '--xds-client-names <names>',
        'names of which the client certificate of a proxy must have one, separated by commas, such as spiffe://example.com/ns/{namespace}/proxy/{proxy}',
      )
      .argParser(flags.listOf(clientNames)),
    flags
      .option('--envoy-node-proxies <host>', 'host of the fallback proxies for routes that Envoy cannot express')
      .argParser(hostOfProxies),
    flags
      .option('--envoy-extauth <address>', 'host:port of the auth server that Envoy calls (role extauth)')
      .argParser(oneAddress),
    flags
      .option('--envoy-rate-limit <address>', 'host:port of the rate limit server that Envoy calls (role rate-limit)')
      .argParser(oneAddress),
    flags.option(
      '--envoy-services-ca <file>',
      'CA certificates for these two servers, a path on the Envoy hosts; Envoy then calls them over TLS',
    ),
    flags.option('--envoy-services-cert <file>', 'client certificate for these two servers, a path on the Envoy hosts'),
    flags.option('--envoy-services-key <file>', 'private key of that certificate, a path on the Envoy hosts'),
    // Not among the ports that must differ: it is usually 8443, like that of the default gateways, which proxies open.
    flags.portOption(VALIDATION_PORT),
    flags.option('--validation-address <address>', 'address of the port for validation').default('127.0.0.1'),
    flags
      .option(
        '--validation-names <names>',
        'names in the certificate of that port, separated by commas (default: gw.<namespace>.svc)',
      )
      .argParser(flags.listOf(certificateNames)),
    flags.option(
      '--validation-webhook <name>',
      'name of the ValidatingWebhookConfiguration whose caBundle is set (default: gw-gateway-validation-webhook-<namespace>)',
    ),
    flags.option(
      '--validation-client-ca <file>',
      'PEM file with the CA certificates for the client certificate of the API server; others are rejected',
    ),
    ...flags.stateOptions('accepted resources with secret values'),
    ...flags.adminOptions(),
    ...flags.commonOptions(),
    flags.drainSecondsOption(),
  ],
  async start(settings, process) {
    const [{ startControlPlane }, { stateDirectory }] = await Promise.all([
      import('../roles/control-plane.ts'),
      import('../roles/state-directory.ts'),
    ]);
    return startControlPlane({ ...settings, stateDir: stateDirectory(settings.stateDir) }, process);
  },
};

function oneAddress(text: string): HostPort {
  const addresses = flags.addresses(text);
  if (addresses.length !== 1) throw new InvalidArgumentError('only one address is allowed.');
  return addresses[0]!;
}

/** The ports are those of the listeners. */
function hostOfProxies(text: string): string {
  try {
    return readServerAddresses(`${text.includes(':') ? `[${text}]` : text}:1`)[0]!.host;
  } catch {
    throw new InvalidArgumentError(`the host must be a DNS name or an IP address, without a port, not "${text}".`);
  }
}

const DNS_NAME = /^(?=.{1,253}$)[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?)*$/i;

/** With other names, each certificate would be replaced at once. */
function certificateNames(text: string): readonly string[] {
  const names = flags.names(text);
  const invalid = names.find((name) => isIP(name) === 0 && !DNS_NAME.test(name));
  if (invalid !== undefined) throw new InvalidArgumentError(`'${invalid}' is neither a DNS name nor an IP address.`);
  if (names.length === 0) throw new InvalidArgumentError('a name is required.');
  return names;
}

function clientNames(text: string): readonly ClientName[] {
  try {
    return parseClientNames(text);
  } catch (error) {
    throw new InvalidArgumentError(`${(error as Error).message}.`);
  }
}

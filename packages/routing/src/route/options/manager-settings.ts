import { parseDuration, type Listener } from '@edge-gateway/core';
import type { HeaderCase } from '../../http1/header-case.ts';
import type { TrailerRules } from '../../http1/trailers.ts';
import { DEFAULT_PATH_SETTINGS, type PathSettings } from '../match/canonical-path.ts';
import { compileStatefulSession } from './stateful-session.ts';
import { compileCertificateForwarding } from './client-certificate.ts';
import { addition, removal, type HeaderOp } from './header-manipulation.ts';
import { compileInternalAddresses } from './internal-address.ts';
import { compileUpgrades, DEFAULT_UPGRADES } from './upgrades.ts';

type Manager = NonNullable<Listener['httpOptions']['httpConnectionManagerSettings']>;

/** Settings of a listener for every request, from its `httpConnectionManagerSettings` (reference: routing 5.5). */
export type ManagerSettings = Readonly<ReturnType<typeof compileManagerSettings>>;

const ESCAPED_SLASHES = {
  IMPLEMENTATION_SPECIFIC_DEFAULT: 'keep',
  KEEP_UNCHANGED: 'keep',
  REJECT_REQUEST: 'reject',
  UNESCAPE_AND_REDIRECT: 'redirect',
  UNESCAPE_AND_FORWARD: 'forward',
} as const;

const UNDERSCORES = { ALLOW: 'allow', REJECT_CLIENT_REQUEST: 'reject', DROP_HEADER: 'drop' } as const;

const SERVER_HEADER = {
  OVERWRITE: 'overwrite',
  APPEND_IF_ABSENT: 'appendIfAbsent',
  PASS_THROUGH: 'passThrough',
} as const;

const DEFAULT_BUFFER_LIMIT_BYTES = 1_048_576;

/** Compiles the settings of a listener. Never throws: invalid settings become `failed`. */
export function compileSettings({ httpOptions, options }: Listener): {
  readonly settings: ManagerSettings;
  readonly failed: string | undefined;
} {
  try {
    return { settings: compileManagerSettings(httpOptions, options), failed: undefined };
  } catch (error) {
    const failed = error instanceof Error ? error.message : String(error);
    return { settings: compileManagerSettings({}), failed };
  }
}

/** Compiles the settings of a listener with their defaults. Throws `ERR_ROUTING_OPTION` for header changes that cannot be made. */
export function compileManagerSettings(options: Listener['httpOptions'], listener: Listener['options'] = {}) {
  const written: Manager = options.httpConnectionManagerSettings ?? {};
  const path = pathSettings(written);
  return {
    path,
    /** The same for a user's own server, where handlers in front of the router have seen the written path. */
    embeddedPath: { ...path, asWritten: true },
    /** Maximum size of a body that is read as a whole. */
    bufferLimitBytes: (listener.perConnectionBufferLimitBytes ?? DEFAULT_BUFFER_LIMIT_BYTES) || Infinity,
    stripAnyHostPort: written.stripAnyHostPort === true,
    allowsAmbiguousRequests: written.allowAmbiguousRequests === true,
    /** True if clients connect directly: the peer is the client, and its forwarding headers are not trusted. */
    useRemoteAddress: written.useRemoteAddress !== false,
    /** Proxies in front whose entries in `x-forwarded-for` are trusted. */
    trustedHops: written.xffNumTrustedHops ?? 0,
    skipXffAppend: written.skipXffAppend === true,
    appendXForwardedPort: written.appendXForwardedPort === true,
    via: written.via ?? '',
    generateRequestId: written.generateRequestId !== false,
    preserveExternalRequestId: written.preserveExternalRequestId === true,
    underscores: UNDERSCORES[written.headersWithUnderscoresAction ?? 'ALLOW'],
    certificateForwarding: compileCertificateForwarding(written),
    /** Which callers are internal; `undefined` if none is. */
    isInternal: compileInternalAddresses(written.internalAddressConfig),
    /** The client is the first entry of `x-forwarded-for`, which any client can choose. */
    leftmostForwardedAddress: options.leftmostXffAddress === true,
    earlyHeaders: earlyHeaders(written) as readonly HeaderOp[],
    serverName: written.serverName || 'envoy',
    serverHeader: SERVER_HEADER[written.serverHeaderTransformation ?? 'OVERWRITE'],
    session: compileStatefulSession(options),
    /** Longest duration of a stream; 0 is no limit. */
    maxStreamMs: written.maxStreamDuration === undefined ? 0 : Math.ceil(parseDuration(written.maxStreamDuration)),
    /** True passes on interim responses and `Expect: 100-continue`. */
    passesInterim: written.proxy100Continue === true,
    /** How trailers are forwarded; `undefined` drops them. */
    trailers: written.enableTrailers ? trailerRules(written) : undefined,
    /** How those of HTTP/2 clients are forwarded, which cannot be disabled. */
    http2Trailers: trailerRules(written),
    /** How names of headers are written. */
    headerCase: headerCaseOf(written),
    dynamicStats: options.router?.dynamicStats !== false,
    suppressEnvoyHeaders: options.router?.suppressEnvoyHeaders === true,
    /** The upgrades of routes without settings of their own. */
    upgrades: compileUpgrades(written.upgrades, DEFAULT_UPGRADES),
  };
}

/** Returns how a listener writes header names. */
export function headerCaseOf({ properCaseHeaderKeyFormat, preserveCaseHeaderKeyFormat }: Manager): HeaderCase {
  if (properCaseHeaderKeyFormat) return 'proper';
  return preserveCaseHeaderKeyFormat ? 'preserve' : undefined;
}

function trailerRules({ headersWithUnderscoresAction: action }: Manager): TrailerRules {
  return { dropsUnderscores: action !== undefined && UNDERSCORES[action] !== 'allow' };
}

function pathSettings(written: Manager): PathSettings {
  return {
    ...DEFAULT_PATH_SETTINGS,
    normalizePath: written.normalizePath ?? DEFAULT_PATH_SETTINGS.normalizePath,
    mergeSlashes: written.mergeSlashes ?? DEFAULT_PATH_SETTINGS.mergeSlashes,
    escapedSlashes: ESCAPED_SLASHES[written.pathWithEscapedSlashesAction ?? 'KEEP_UNCHANGED'],
  };
}

/** Adds first, then removes (reference: routing 5.5). */
function earlyHeaders({ earlyHeaderManipulation }: Manager): HeaderOp[] {
  const { headersToAdd = [], headersToRemove = [] } = earlyHeaderManipulation ?? {};
  const added = headersToAdd.flatMap(({ header, append }) => (header ? addition(header, append, 'request') : []));
  return [...added, ...headersToRemove.map(removal)];
}

import { constants } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { SecureContext, TLSSocket, TlsOptions } from 'node:tls';
import { alternativeNames } from '@edge-gateway/core';
import { checkConnection } from '../../check/check-head.ts';
import type { Refusal } from '../../check/refusal.ts';
import type { ListenStats } from '../listen-stats.ts';
import type { ListenLimits } from '../limits.ts';
import type { TlsEntry } from './tls-entry.ts';
import { alpnOptions } from './alpn.ts';
import { createStapler } from './stapling.ts';
import type { TicketKeys } from './ticket-keys.ts';
import { acceptsSameClients, type TlsTable } from './tls-table.ts';

export type TlsFront = ReturnType<typeof createTlsFront>;

export interface TlsFrontParts {
  /** The certificates of the listener, at least one. */
  readonly table: TlsTable;
  readonly limits: ListenLimits;
  /** Default: a random key of its own. */
  readonly tickets?: TicketKeys | undefined;
  /** Returns the newest certificates of the listener: their client requirements apply to requests on older connections too. Default: `table`. */
  readonly newest?: () => TlsTable | undefined;
}

/** Creates the TLS part of a front. */
export function createTlsFront({ table, limits, tickets, newest = () => table }: TlsFrontParts) {
  const { entries, select } = table;
  // Otherwise the handshake itself enforces the versions, which are those of all entries.
  const versionsDiffer = new Set(entries.map(({ minVersion, maxVersion }) => `${minVersion} ${maxVersion}`)).size > 1;
  const requiresClient = ({ clientRequired }: TlsEntry): boolean => clientRequired;
  function fulfils(serverName: string | undefined, wanted: TlsEntry): boolean {
    const own = select(serverName);
    return own !== undefined && (own === wanted || acceptsSameClients(own, wanted));
  }
  return {
    options: { ...tlsOptions(table, limits), ...(tickets && ticketOptions(tickets)) },
    stapler: (stats: ListenStats) => createStapler(entries, stats),
    /** Called after the handshake. Returns false if the connection must be closed. */
    admit(socket: TLSSocket, stats: ListenStats): boolean {
      const isReused = socket.isSessionReused();
      const entry = select(socket.servername || undefined);
      const isAdmitted = isReused && isNameUnknown(socket);
      if (!isAdmitted && (!entry || (versionsDiffer && !usesAllowedVersion(socket, entry)))) return false;
      stats.handshake.value++;
      if (isReused) stats.sessionReused.value++;
      return !entry?.clientRequired || isClientVerified(socket, entry, stats);
    },
    /** Returns false for a connection whose handshake does not fulfil the newest client requirements of its server name. */
    isCurrent(socket: TLSSocket): boolean {
      const name = socket.servername || undefined;
      const wanted = newest()?.select(name);
      return !wanted?.clientRequired || fulfils(name, wanted);
    },
    /** Rejects a host whose certificate has other client requirements than the one of this connection had in its handshake. */
    checkConnection(req: IncomingMessage): Refusal | undefined {
      const now = newest();
      return now?.verifiesClients ? checkConnection(req, { select: now.select, requiresClient, fulfils }) : undefined;
    },
  };
}

function tlsOptions(table: TlsTable, limits: ListenLimits): TlsOptions {
  const { entries, select, verifiesClients: verifies } = table;
  const any = select(undefined);
  const alpn = alpnOptions(table, limits.codecType);
  const handshakes = entries.flatMap(({ handshakeTimeoutMs }) => handshakeTimeoutMs ?? []);
  return {
    ...any?.options,
    minVersion: entries.map((entry) => entry.minVersion).sort()[0],
    maxVersion: entries
      .map((entry) => entry.maxVersion)
      .sort()
      .at(-1),
    // Requested from every client, because the server name is known only in the handshake; `admit` enforces it where required.
    requestCert: verifies,
    rejectUnauthorized: false,
    // A second handshake could change the server name after the client was admitted.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION | (resumes(table, alpn) ? 0 : constants.SSL_OP_NO_TICKET),
    handshakeTimeout: handshakes.length > 0 ? Math.min(...handshakes) : limits.handshakeTimeoutMs,
    ...alpn,
    ...(hasOneForAll(table) ? {} : { SNICallback: serverNameCallback(table) }),
  };
}

/**
 * True if sessions may be resumed. A session could be resumed under another server name, with an unverified client; and the name of a resumed
 * session, which may decide about its protocol, is not always known.
 */
function resumes({ entries, verifiesClients }: TlsTable, { ALPNCallback }: Pick<TlsOptions, 'ALPNCallback'>): boolean {
  const isDisabled = entries.some(({ configuration }) => configuration.sslConfig.disableTlsSessionResumption);
  return !verifiesClients && !isDisabled && ALPNCallback === undefined;
}

/** True if all server names select the same certificate: handshakes then need no callback. */
function hasOneForAll({ entries }: TlsTable): boolean {
  const names = entries.length === 1 ? entries[0]!.configuration.sniDomains : undefined;
  return names !== undefined && (names.length === 0 || names.includes('*'));
}

function serverNameCallback({ select }: TlsTable): TlsOptions['SNICallback'] {
  return (name: string, done: (error: Error | null, context?: SecureContext) => void) => {
    const entry = select(name);
    if (entry) done(null, entry.context);
    else done(new Error('no certificate for this server name'));
  };
}

function ticketOptions({ key, sessionIdContext }: TicketKeys): TlsOptions {
  return { ticketKeys: key, sessionIdContext };
}

/**
 * True if Node does not report the server name of a resumed session, as before TLS 1.3. Its first handshake was admitted with the same
 * certificates, and they verify no clients: otherwise no session is resumed.
 */
function isNameUnknown(socket: TLSSocket): boolean {
  return !socket.servername && socket.getProtocol() !== 'TLSv1.3';
}

function usesAllowedVersion(socket: TLSSocket, { minVersion, maxVersion }: TlsEntry): boolean {
  const version = socket.getProtocol() ?? '';
  return version >= minVersion && version <= maxVersion;
}

function isClientVerified(socket: TLSSocket, { clientNames }: TlsEntry, stats: ListenStats): boolean {
  const certificate = socket.getPeerX509Certificate();
  if (!certificate || socket.isSessionReused()) {
    stats.noCertificate.value++;
    return false;
  }
  if (!socket.authorized) {
    stats.failVerify.value++;
    return false;
  }
  if (clientNames.length === 0) return true;
  const known = alternativeNames(certificate.subjectAltName).some(({ name }) => clientNames.includes(name));
  if (!known) stats.failVerifySan.value++;
  return known;
}

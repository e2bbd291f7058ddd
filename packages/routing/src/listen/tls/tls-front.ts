import { constants } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { SecureContext, TLSSocket, TlsOptions } from 'node:tls';
import { alternativeNames } from '@edge-gateway/core';
import { checkConnection } from '../../check/check-head.ts';
import type { Refusal } from '../../check/refusal.ts';
import type { ListenStats } from '../listen-stats.ts';
import type { ListenLimits } from '../limits.ts';
import type { TlsEntry } from './tls-entry.ts';
import type { TlsTable } from './tls-table.ts';

export type TlsFront = ReturnType<typeof createTlsFront>;

/** Makes the TLS side of a front from the certificates of a listener. There is at least one. */
export function createTlsFront(table: TlsTable, limits: ListenLimits) {
  const { entries, select } = table;
  const rules = { select, requiresClient: ({ clientRequired }: TlsEntry): boolean => clientRequired };
  const verifies = entries.some(({ clientRequired }) => clientRequired);
  return {
    options: tlsOptions(table, limits, verifies),
    /** After the handshake: false when the connection must be closed. */
    admit(socket: TLSSocket, stats: ListenStats): boolean {
      const entry = select(socket.servername || undefined);
      if (!entry || !speaksAllowedVersion(socket, entry)) return false;
      stats.handshake.value++;
      if (socket.isSessionReused()) stats.sessionReused.value++;
      return !entry.clientRequired || isClientVerified(socket, entry, stats);
    },
    /** Rejects a host whose certificate requires more of the client than the one this connection was made with. */
    checkConnection: (req: IncomingMessage): Refusal | undefined =>
      verifies ? checkConnection(req, rules) : undefined,
  };
}

function tlsOptions({ entries, select }: TlsTable, limits: ListenLimits, verifies: boolean): TlsOptions {
  const any = select(undefined);
  const resumes =
    !verifies && !entries.some(({ configuration }) => configuration.sslConfig.disableTlsSessionResumption);
  const offersNone = entries.every(({ configuration }) => configuration.sslConfig.alpnProtocols?.[0] === 'allow_empty');
  const handshakes = entries.flatMap(({ handshakeTimeoutMs }) => handshakeTimeoutMs ?? []);
  return {
    ...any?.options,
    minVersion: entries.map((entry) => entry.minVersion).sort()[0],
    maxVersion: entries
      .map((entry) => entry.maxVersion)
      .sort()
      .at(-1),
    // Asked of all, demanded in `admit` of those whose certificate demands it: the name is known only in the handshake.
    requestCert: verifies,
    rejectUnauthorized: false,
    // A session made under one name could be taken up under another, with the client unverified.
    secureOptions: resumes ? 0 : constants.SSL_OP_NO_TICKET,
    handshakeTimeout: handshakes.length > 0 ? Math.min(...handshakes) : limits.handshakeTimeoutMs,
    ALPNProtocols: offersNone ? [] : ['http/1.1'],
    SNICallback: (name: string, done: (error: Error | null, context?: SecureContext) => void) => {
      const entry = select(name);
      if (entry) done(null, entry.context);
      else done(new Error('no certificate for this server name'));
    },
  };
}

function speaksAllowedVersion(socket: TLSSocket, { minVersion, maxVersion }: TlsEntry): boolean {
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

import { startTimer, type Listener } from '@edge-gateway/core';
import type { AccessLog as AccessLogSpec } from '@edge-gateway/core/schema';
import type { Collector, Collectors } from '../../collect/collectors.ts';
import type { RequestRecord } from '../../format/record.ts';
import { createGrpcChannel, type GrpcChannel, type GrpcStream } from '../../grpc/grpc-channel.ts';
import { loadEncoder } from '../../grpc/load-encoder.ts';
import { createLogBatches } from '../log-collector.ts';
import { connectionEntry, httpEntry, withStructs, type EntryHeaders, type LogEntry } from './als-entry.ts';
import { alsMessages } from './als-messages.ts';

type GrpcService = NonNullable<AccessLogSpec['grpcService']>;

/** Whether a log has an entry for each request or for each connection. */
export type LogScope = 'request' | 'connection';

/** A log whose entries a server receives. */
export interface EntryCollector extends Collector {
  add(record: RequestRecord): void;
}

const METHOD = '/envoy.service.accesslog.v3.AccessLogService/StreamAccessLogs';
const DEFAULT_CLUSTER = 'access_log_cluster';
const SEND_TIMEOUT_MS = 5_000;

/** Creates the log that sends entries to an access log service (Envoy's ALS, version 3) in one stream. */
export function alsLog(
  written: GrpcService,
  scope: LogScope,
  { gateway, collectors }: { readonly gateway: Listener['gateway']; readonly collectors: Collectors },
): EntryCollector {
  const cluster = written.staticClusterName || DEFAULT_CLUSTER;
  const lower = (names: readonly string[] = []): readonly string[] => names.map((name) => name.toLowerCase());
  const headers: EntryHeaders = {
    request: lower(written.additionalRequestHeadersToLog),
    response: lower(written.additionalResponseHeadersToLog),
    trailers: lower(written.additionalResponseTrailersToLog),
  };
  const identifier = { node: { id: gateway.name, cluster: gateway.namespace }, log_name: written.logName ?? '' };
  return collectors.get(`als ${scope} ${JSON.stringify([gateway, written])}`, (parts) => {
    const { upstreams, context } = parts;
    const channel = createGrpcChannel({ find: () => upstreams.get(cluster), secrets: context.secrets });
    const stream = createEntryStream(channel, identifier, scope === 'request' ? 'http_logs' : 'tcp_logs');
    const batches = createLogBatches<LogEntry>(parts, cluster, stream.send);
    return {
      add: (record) => batches.add(scope === 'request' ? httpEntry(record, headers) : connectionEntry(record)),
      async close(limitMs) {
        await batches.flush(limitMs);
        await stream.end(limitMs);
        channel.close();
      },
    };
  });
}

/** A stream of entries. It is opened by the first batch, and again after it has ended. */
function createEntryStream(channel: GrpcChannel, identifier: object, field: 'http_logs' | 'tcp_logs') {
  let encoder: ReturnType<typeof loadEncoder> | undefined;
  let stream: GrpcStream | undefined;
  let onEnd: ((error: Error) => void) | undefined;

  async function open(): Promise<GrpcStream> {
    const opened: GrpcStream = await channel.stream(METHOD, {
      connectMs: SEND_TIMEOUT_MS,
      onEnd: (error) => {
        if (stream === opened) stream = undefined;
        onEnd?.(error ?? new Error('the server ended the stream'));
      },
    });
    opened.on('error', () => {});
    return opened;
  }

  return {
    async send(entries: readonly LogEntry[]): Promise<void> {
      const { toStruct } = await import('@edge-gateway/core/grpc');
      const encode = await (encoder ??= loadEncoder(alsMessages, 'StreamAccessLogsMessage'));
      const isNew = stream === undefined;
      const used = (stream ??= await open());
      const bytes = encode({
        ...(isNew && { identifier }),
        [field]: { log_entry: entries.map((entry) => withStructs(entry, toStruct)) },
      });
      try {
        await write(used, bytes);
      } catch (error) {
        used.cancel();
        if (stream === used) stream = undefined;
        throw error;
      }
    },
    /** Ends the stream, and resolves when the server has received everything, or after the limit. */
    async end(limitMs: number): Promise<void> {
      const ended = stream;
      if (!ended) return;
      await new Promise<void>((resolve) => {
        const timer = startTimer(resolve, limitMs);
        onEnd = () => {
          clearTimeout(timer);
          resolve();
        };
        ended.end();
      });
      onEnd = undefined;
      ended.cancel();
    },
  };

  function write(used: GrpcStream, bytes: Buffer): Promise<void> {
    return new Promise((resolve, reject) => {
      const done = (error?: Error | null): void => {
        clearTimeout(timer);
        onEnd = undefined;
        if (error) reject(error);
        else resolve();
      };
      const late = (): void => done(new Error(`not accepted in ${SEND_TIMEOUT_MS} ms`));
      const timer = setTimeout(late, SEND_TIMEOUT_MS);
      onEnd = done;
      used.write(bytes, done);
    });
  }
}

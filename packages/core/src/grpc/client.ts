import type { ChannelOptions, Client, Interceptor } from '@grpc/grpc-js';
import { grpcLibrary } from './library.ts';

/**
 * Idle time of a connection with calls after which the server must respond to a ping, in milliseconds. Servers close connections with more than one
 * ping in five minutes, unless they are configured otherwise.
 */
const KEEPALIVE_MS = 330_000;
/** Maximum time for the response to a ping, in milliseconds. */
const MAX_PING_MS = 20_000;
/** Minimum time between two replacements of a connection, in milliseconds: an overloaded server is silent, too. */
const MIN_REPLACEMENT_MS = 1000;

/** What the connections of a client depend on. */
export interface GrpcChannelSettings {
  /** Maximum size of a received message, in bytes. */
  readonly maxBytes: number;
  /** Idle time with calls after which the server must respond to a ping, in milliseconds. Default 330,000. */
  readonly keepaliveMs?: number | undefined;
  /** Maximum time for that response, in milliseconds. Default: `keepaliveMs`, at most 20,000. */
  readonly keepaliveTimeoutMs?: number | undefined;
}

/** Returns the options of a channel: the only place that sets those for keepalive, retries and shared connections. */
export function channelOptions({
  maxBytes,
  keepaliveMs = KEEPALIVE_MS,
  keepaliveTimeoutMs = Math.min(keepaliveMs, MAX_PING_MS),
}: GrpcChannelSettings): ChannelOptions {
  return {
    'grpc.max_receive_message_length': maxBytes,
    'grpc.enable_retries': 0,
    'grpc.use_local_subchannel_pool': 1,
    'grpc.keepalive_time_ms': keepaliveMs,
    'grpc.keepalive_timeout_ms': keepaliveTimeoutMs,
  };
}

/** A client of one address that does not keep a silent connection. */
export interface GrpcClient {
  /** Returns the client for the next call. */
  current(): Client;
  /** Calls in progress finish before their connections close. */
  close(): void;
}

/**
 * Creates a client that makes its next call over a new connection when a call reaches its deadline and the server has sent nothing since the call began. Calls
 * are too short for pings to find such a connection, e.g. one to a process that hangs.
 */
export function createGrpcClient(create: (options: { readonly interceptors: Interceptor[] }) => Client): GrpcClient {
  let client: Client | undefined;
  let replacedAt = -MIN_REPLACEMENT_MS;

  function replace(silent: Client): void {
    const now = performance.now();
    if (silent !== client || now - replacedAt < MIN_REPLACEMENT_MS) return;
    if (silent.getChannel().getConnectivityState(false) !== grpcLibrary().connectivityState.READY) return;
    replacedAt = now;
    client = undefined;
    silent.close();
  }

  function start(): Client {
    const made = create({ interceptors: [silenceWatch(() => replace(made))] });
    return made;
  }

  return {
    current: () => (client ??= start()),
    close() {
      client?.close();
      client = undefined;
    },
  };
}

/** Returns an interceptor that reports a call that reaches its deadline and began after the last message of the server. */
function silenceWatch(onSilence: () => void): Interceptor {
  const { InterceptingCall, status } = grpcLibrary();
  let receivedAt = -Infinity;
  return (options, nextCall) => {
    const startedAt = performance.now();
    return new InterceptingCall(nextCall(options), {
      start(metadata, _listener, next) {
        next(metadata, {
          onReceiveMetadata(received, forward) {
            receivedAt = performance.now();
            forward(received);
          },
          onReceiveMessage(message, forward) {
            // The library passes null for a unary call without a response.
            if (message !== null) receivedAt = performance.now();
            forward(message);
          },
          onReceiveStatus(result, forward) {
            if (result.code === status.DEADLINE_EXCEEDED && receivedAt < startedAt) onSilence();
            forward(result);
          },
        });
      },
    });
  };
}

/** A call in progress. */
interface EndableCall {
  readonly call?: { cancelWithStatus(code: number, details: string): void };
  cancel(): void;
}

/** Ends a call for a limit of its caller, as its deadline would, so that the next call does not use a silent connection. */
export function expireCall(call: EndableCall): void {
  if (call.call) call.call.cancelWithStatus(grpcLibrary().status.DEADLINE_EXCEEDED, 'the caller no longer waits');
  else call.cancel();
}

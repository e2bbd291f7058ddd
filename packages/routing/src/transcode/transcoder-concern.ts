import type { IncomingMessage } from 'node:http';
import {
  factsOf,
  grpcTypeOf,
  type Concern,
  type Context,
  type Handler,
  type Next,
  type SnapshotUpstream,
  type TranscoderRef,
} from '@edge-gateway/core';
import { routingError } from '../error-codes.ts';
import { createTranscoderStats } from './transcoder-stats.ts';
import type { MatchedCall, Transcoder } from './transcoder.ts';
import { transcoderSource, type TranscoderSource } from './transcoder-source.ts';

/** The transcoder of a listener, or a reference to that of the upstream of a destination. */
export type TranscoderBlock = TranscoderSource | TranscoderRef;

interface Compiled {
  readonly descriptorSet: string | undefined;
  readonly transcoder: Promise<Transcoder>;
}

/** Loaded by the first transcoder: its library is large. */
const load = () => import('./loaded.ts');

/**
 * Creates the concern of `grpcJsonTranscoder`: requests that match a rule become gRPC calls, and their responses JSON. That of an upstream
 * replaces that of the listener. `find` returns an upstream of the snapshot by the name of its cluster.
 */
export function createTranscoderConcern(
  find: (cluster: string) => SnapshotUpstream | undefined,
): Concern<TranscoderBlock> {
  const compiled = new WeakMap<object, Compiled>();

  /** Compiled once per upstream or listener, whatever the number of virtual hosts and reloads. */
  function compileOnce(source: TranscoderSource, { log }: Context): Promise<Transcoder> {
    const { options, descriptorSet } = source;
    const known = compiled.get(options);
    if (known?.descriptorSet === descriptorSet) return known!.transcoder;
    const transcoder = load().then(({ compileSource }) => compileSource(source));
    transcoder.catch((error: unknown) => {
      log.get('config').error({ reason: String(error) }, 'invalid gRPC-JSON transcoder, responding with 500');
    });
    compiled.set(options, { descriptorSet, transcoder });
    return transcoder;
  }

  return {
    name: 'grpcJsonTranscoder',
    option: 'grpcJsonTranscoder',
    stage: 'transcoding',
    compile(block, context) {
      const upstream = 'upstream' in block ? find(block.upstream) : undefined;
      const source = 'upstream' in block ? upstream && transcoderSource(upstream) : block;
      if (!source) throw routingError('ERR_ROUTING_OPTION', 'the upstream has no transcoder');
      if (source.descriptorSet === undefined)
        throw routingError('ERR_ROUTING_OPTION', 'the transcoder has no descriptors');
      return handlerOf(compileOnce(source, context), context);
    },
  };
}

function handlerOf(compiled: Promise<Transcoder>, context: Context): Handler {
  const stats = createTranscoderStats(context.metrics);
  const calls = new WeakMap<IncomingMessage, { readonly call: MatchedCall; readonly transcoder: Transcoder }>();
  let loaded: Awaited<ReturnType<typeof load>> | undefined;

  async function transcode(req: IncomingMessage): Promise<void> {
    const transcoder = await compiled.catch((cause: unknown) => {
      throw routingError('ERR_ROUTING_ROUTE', undefined, cause);
    });
    loaded ??= await load();
    try {
      const call = await loaded.transcodeRequest(req, transcoder);
      if (!call) return void stats.passed.value++;
      stats.transcoded.value++;
      calls.set(req, { call, transcoder });
    } catch (error) {
      stats.rejected.value++;
      throw error;
    }
  }

  function grpcJsonTranscoder(req: IncomingMessage, _res: unknown, next: Next): void {
    // Clients of gRPC need no translation; a request is translated once, also if its route changes.
    if (grpcTypeOf(factsOf(req).header('content-type') ?? '')) return next();
    transcode(req).then(() => next(), next);
  }
  return Object.assign(grpcJsonTranscoder, {
    outlivesRoute: true,
    filterResponse(req: IncomingMessage) {
      const found = calls.get(req);
      return found && loaded!.responseFilter({ ...found, maxBytes: factsOf(req).bufferLimitBytes });
    },
  });
}

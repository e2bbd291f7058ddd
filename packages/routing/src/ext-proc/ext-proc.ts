import type { IncomingMessage } from 'node:http';
import {
  clusterName,
  gatewayNamespace,
  factsOf,
  type Concern,
  type Context,
  type Handler,
  type ResourceRef,
  type ResponseFilter,
  type SnapshotSettings,
} from '@edge-gateway/core';
import type { GrpcClients } from '@edge-gateway/core/grpc';
import type { ExtProc, ExtProcRoute } from '@edge-gateway/core/schema';
import type { Upstreams } from '../upstream/upstream.ts';
import type { ProcessorStream } from './processing-call.ts';
import { Processor, type ProcessorParts } from './processor.ts';
import { processRequest } from './request-side.ts';
import { processResponse, processTunnel } from './response-side.ts';
import { changeTrailers } from './process-trailers.ts';
import { compileSettings } from './settings.ts';
import { SLOT_STAGES, slotOf } from './slots.ts';
import { createProcessorStats } from './processor-stats.ts';

/** A block of external processing. */
export type ProcessorFamily = 'extProc' | 'extProcEarly' | 'extProcLate';
const FAMILIES: readonly ProcessorFamily[] = ['extProcEarly', 'extProc', 'extProcLate'];

/** The concerns of external processing, and the connections of their servers. */
export interface ExtProcConcerns {
  readonly concerns: readonly Concern<ExtProcRoute>[];
  close(): void;
}

/**
 * Creates the concerns of `extProc`, `extProcEarly` and `extProcLate`: one for each stage at which a server can be called. The block of a listener or of the
 * Settings is in the settings of the scope; those of virtual hosts and routes switch it off or override it.
 */
export function createExtProcConcerns(upstreams: Upstreams): ExtProcConcerns {
  const clients = new Map<string, GrpcClients>();

  /** gRPC is loaded by the first call. */
  async function open(
    block: ExtProc,
    { secrets }: Context,
    settings: ProcessorParts['settings'],
  ): Promise<ProcessorStream> {
    const { extProcServerRef: ref, authority } = block.grpcService ?? {};
    if (!ref?.name) throw new Error('the block names no server');
    const { createServerClients, openCall } = await import('./server.ts');
    const server: ResourceRef = { name: ref.name, namespace: ref.namespace || gatewayNamespace() };
    const key = JSON.stringify([server.namespace, server.name, authority]);
    let known = clients.get(key);
    if (!known) {
      const find = () => upstreams.get(clusterName(server));
      const options = { secrets, pick: () => find()?.pick()?.endpoint, ...(authority && { authority }) };
      clients.set(key, (known = createServerClients(() => find()?.snapshot, options)));
    }
    return openCall(known, settings);
  }

  function compile(block: ExtProc, context: Context): Handler {
    const settings = compileSettings(block);
    const log = context.log.get('filter');
    const parts: ProcessorParts = {
      settings,
      stats: createProcessorStats(context.metrics, block.statPrefix ?? ''),
      open: () => open(block, context, settings),
      log: (reason, requestId) => log.warn({ requestId, reason }, 'external processing failed'),
    };
    const processors = new WeakMap<IncomingMessage, Processor>();

    const handler: Handler = function extProc(req, res, next) {
      const processor = new Processor(parts, factsOf(req).requestId);
      processors.set(req, processor);
      res.once('close', () => processor.close());
      if (block.filterMetadata) factsOf(req).metadata.set(NAMESPACE, { ...block.filterMetadata });
      processRequest(req, processor).then(() => next(), next);
    };
    handler.filterResponse = (req) => {
      const processor = processors.get(req);
      // Responses to requests that the server has not seen are not processed.
      if (!processor || processor.isDone) return undefined;
      return responseFilter(req, processor);
    };
    return handler;
  }

  const concerns = FAMILIES.flatMap((family) => {
    const stages = family === 'extProcLate' ? (['destination'] as const) : SLOT_STAGES;
    return stages.map((stage): Concern<ExtProcRoute> => ({
      name: `${family}@${stage}`,
      option: family,
      stage,
      compile(options, context, scope) {
        const block = scope && processorBlockOf(family, options, scope.settings);
        if (!block || (family !== 'extProcLate' && slotOf(block.filterStage ?? {}) !== stage)) return undefined;
        return compile(block, context);
      },
    }));
  });

  return {
    concerns,
    close() {
      for (const each of clients.values()) each.close();
      clients.clear();
    },
  };
}

function responseFilter(req: IncomingMessage, processor: Processor): ResponseFilter {
  let headers: readonly string[] = [];
  const { mode, allowsModeOverride } = processor.settings;
  return {
    async onHead(head) {
      const change = await processResponse(req, head, processor);
      ({ headers } = head);
      return change;
    },
    onTunnel: (head) => processTunnel(req, head, processor),
    ...((mode.responseTrailers || allowsModeOverride) && {
      onTrailers: (trailers) => changeTrailers(trailers, headers, processor),
    }),
  };
}

/** Where the metadata of a block is stored. */
const NAMESPACE = 'envoy.filters.http.ext_proc';

/** Returns the block that applies to a route: that of the settings with the overrides of the route. */
export function processorBlockOf(
  family: ProcessorFamily,
  { disabled, overrides }: ExtProcRoute,
  settings: SnapshotSettings,
): ExtProc | undefined {
  const base = settings[family];
  return base && !disabled ? { ...base, ...overrides } : undefined;
}

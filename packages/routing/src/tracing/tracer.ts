import type { Propagation } from './context/propagation.ts';
import type { CustomTag } from './custom-tags.ts';
import type { SpanCollector } from './export/span-collector.ts';
import type { Sampling } from './sampling.ts';

/** Compiled tracing of a listener. */
export interface Tracer {
  readonly collector: SpanCollector;
  readonly propagation: Propagation;
  readonly sampling: Sampling;
  readonly tags: readonly CustomTag[];
  readonly defaultName: string;
  /** Also records stages and events. */
  readonly verbose: boolean;
  readonly spawnsUpstreamSpans: boolean;
  /** True if a tag has metadata of the endpoint. */
  readonly readsEndpoint: boolean;
  /** Trace ids of 128 bits. */
  readonly longTraceIds: boolean;
  /** The span of a request has the id of its caller's span (Zipkin). */
  readonly sharesSpans: boolean;
  /** Writes the decision into the request id. */
  readonly packsReason: boolean;
  /** Draws by the request id, so that all proxies sample the same requests. */
  readonly samplesByRequestId: boolean;
}

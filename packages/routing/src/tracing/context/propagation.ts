import { findHeader, removeWhere } from '../../http1/flat-headers.ts';
import { B3, B3_SINGLE, b3Decision } from './b3.ts';
import { DATADOG } from './datadog-headers.ts';
import type { ContextFormat, SentContext, TraceContext } from './trace-context.ts';
import { W3C } from './w3c.ts';

const ALL: readonly ContextFormat[] = [W3C, B3, B3_SINGLE, DATADOG];

/** Every header with a trace context. */
const CONTEXT_HEADERS: ReadonlySet<string> = new Set(ALL.flatMap(({ headers }) => headers));

/** The context that a request arrived with. */
export interface ReceivedContext {
  readonly context: TraceContext | undefined;
  readonly format: ContextFormat | undefined;
  /** Decision of a caller without a trace. */
  readonly sampled: boolean | undefined;
}

/** Reads and writes trace contexts, first in the formats of a provider. */
export type Propagation = ReturnType<typeof createPropagation>;

export function createPropagation(own: readonly ContextFormat[]) {
  const order = [...own, ...ALL.filter((format) => !own.includes(format))];
  return {
    /** Reads the context from the first format that has a valid one. */
    extract(flat: readonly string[]): ReceivedContext {
      const header = (name: string): string | undefined => findHeader(flat, name);
      for (const format of order) {
        const context = format.extract(header);
        if (context) return { context, format, sampled: context.sampled };
      }
      return { context: undefined, format: undefined, sampled: b3Decision(header) };
    },
    /** Replaces the received context by that of a span: in the provider's format, and in the one that it was received in. */
    inject(flat: string[], span: SentContext, received: ContextFormat | undefined): void {
      removeContext(flat);
      for (const format of own) format.inject(flat, span);
      if (received && !own.includes(received)) received.inject(flat, span);
    },
  };
}

/** Removes every trace context from a flat list of headers. */
export function removeContext(flat: string[]): void {
  removeWhere(flat, (name) => CONTEXT_HEADERS.has(name));
}

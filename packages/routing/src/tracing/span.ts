/** Value of a tag. */
export type TagValue = string | number | boolean;

export type SpanKind = 'server' | 'client' | 'internal';

/** A moment of a span, in milliseconds since the epoch. */
export interface SpanEvent {
  readonly name: string;
  readonly at: number;
}

/** One span of a trace: plain data that the exporters write. */
export class Span {
  name: string;
  readonly kind: SpanKind;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string | undefined;
  /** True if the parent is a span of another process. */
  readonly hasRemoteParent: boolean;
  /** True if its id is that of the caller's span (Zipkin). */
  readonly shared: boolean;
  /** Milliseconds since the epoch, with fractions. */
  readonly startedAt: number;
  durationMs = 0;
  readonly tags: [name: string, value: TagValue][] = [];
  readonly events: SpanEvent[] = [];
  failed = false;
  readonly state: string | undefined;
  readonly origin: string | undefined;

  constructor(parts: SpanParts) {
    this.name = parts.name;
    this.kind = parts.kind;
    this.traceId = parts.traceId;
    this.spanId = parts.spanId;
    this.parentId = parts.parentId;
    this.hasRemoteParent = parts.hasRemoteParent ?? false;
    this.shared = parts.shared ?? false;
    this.startedAt = parts.startedAt;
    this.state = parts.state;
    this.origin = parts.origin;
  }

  tag(name: string, value: TagValue): void {
    this.tags.push([name, value]);
  }
}

export interface SpanParts {
  readonly name: string;
  readonly kind: SpanKind;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string | undefined;
  readonly hasRemoteParent?: boolean;
  readonly shared?: boolean;
  readonly startedAt: number;
  readonly state?: string | undefined;
  readonly origin?: string | undefined;
}

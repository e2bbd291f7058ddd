/** The parts of a message that a server processes. */
export type Part = 'requestHeaders' | 'responseHeaders' | 'requestBody' | 'responseBody' | TrailerPart;

export type TrailerPart = 'requestTrailers' | 'responseTrailers';

export interface HeaderOption {
  readonly header: { readonly key: string; readonly value: string; readonly rawValue: Buffer } | null;
  readonly append: { readonly value: boolean } | null;
}

export interface HeaderMutation {
  readonly setHeaders: readonly HeaderOption[];
  readonly removeHeaders: readonly string[];
}

export interface CommonResponse {
  /** 1: the body is replaced, and not sent to the server. */
  readonly status: number;
  readonly headerMutation: HeaderMutation | null;
  readonly bodyMutation: {
    readonly mutation?: 'body' | 'clearBody';
    readonly body?: Buffer;
    readonly clearBody?: boolean;
  } | null;
  readonly clearRouteCache: boolean;
}

export interface ImmediateResponse {
  readonly status: { readonly code: number } | null;
  readonly headers: HeaderMutation | null;
  readonly body: Buffer;
  readonly grpcStatus: { readonly status: number } | null;
  readonly details: string;
}

/** Modes on the wire, see `settings.ts`. */
export interface ModeOverride {
  readonly requestHeaderMode: number;
  readonly responseHeaderMode: number;
  readonly requestBodyMode: number;
  readonly responseBodyMode: number;
  readonly requestTrailerMode: number;
  readonly responseTrailerMode: number;
}

export type ProcessingResponse = {
  readonly [P in Exclude<Part, TrailerPart>]?: { readonly response: CommonResponse | null };
} & { readonly [P in TrailerPart]?: { readonly headerMutation: HeaderMutation | null } } & {
  readonly response?: Part | 'immediateResponse';
  readonly immediateResponse?: ImmediateResponse;
  readonly modeOverride: ModeOverride | null;
  readonly overrideMessageTimeout: { readonly seconds: number; readonly nanos: number } | null;
};

export interface HeaderValue {
  readonly key: string;
  readonly rawValue: Buffer;
}

export interface ProcessingRequest {
  readonly requestHeaders?: {
    readonly headers: { readonly headers: readonly HeaderValue[] };
    readonly endOfStream: boolean;
  };
  readonly responseHeaders?: ProcessingRequest['requestHeaders'];
  readonly requestBody?: { readonly body: Buffer; readonly endOfStream: boolean };
  readonly responseBody?: ProcessingRequest['requestBody'];
  readonly requestTrailers?: { readonly trailers: { readonly headers: readonly HeaderValue[] } };
  readonly responseTrailers?: ProcessingRequest['requestTrailers'];
  /** Metadata of the request by namespace. */
  readonly metadata?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

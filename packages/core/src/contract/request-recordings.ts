/** The header with the token of a recording. It is removed from the request. */
export const RECORDING_HEADER = 'x-gateway-trace';

/** A step of a recorded request. */
export interface RecordedStep {
  /** A concern, e.g. `rbac`, or an attempt to reach a host, `attempt 1`. */
  readonly name: string;
  /** Milliseconds since the request began. */
  readonly startMs: number;
  readonly durationMs: number;
  /** Of an attempt: its host, and the status or why it failed. */
  readonly result?: string;
}

/** The steps of one request in the data plane. It contains no header and no body; secrets in the path are redacted. */
export interface RequestRecording {
  readonly method: string;
  readonly host: string;
  readonly path: string;
  readonly listener: string;
  /** Empty if no virtual host matches. */
  readonly virtualHost: string;
  /** Empty if no route matches. */
  readonly route: string;
  /** Cluster name; empty if it was not forwarded. */
  readonly upstream: string;
  readonly steps: readonly RecordedStep[];
  /** 0 without a response. */
  readonly status: number;
  /** Response flags; empty on success. */
  readonly flags: string;
  /** Response code details; empty if unknown. */
  readonly details: string;
  readonly durationMs: number;
}

/** Records single requests, each for a token that its client sends in {@link RECORDING_HEADER}. */
export interface RequestRecordings {
  /**
   * Returns the token for one request, which is valid for a minute; `undefined` while too many are waiting. Asynchronous if other
   * processes serve the requests.
   */
  create(): string | undefined | Promise<string | undefined>;
  /**
   * Returns the recording of a token and forgets it; `pending` as long as the request has not ended, `undefined` if the token is unknown
   * or has expired.
   */
  take(token: string): RequestRecording | 'pending' | undefined;
}

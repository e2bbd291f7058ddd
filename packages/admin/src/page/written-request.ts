/** A request to explain, as submitted in the form. */
export interface WrittenRequest {
  readonly method: string;
  readonly url: string;
  /** `name: value` each. */
  readonly headers: readonly string[];
  /** Claims to assume of a verified token, as a JSON object. */
  readonly claims?: string;
  /** Name of the proxy, if there are several. */
  readonly proxy?: string;
}

/**
 * Explains how a request is served, as `gatewayctl explain` does, and returns its text. Sends nothing. Rejects with a `GatewayError` if
 * the request is invalid.
 */
export type Explain = (request: WrittenRequest) => Promise<string>;

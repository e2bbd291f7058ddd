import { RequestWindow } from './success-rate.ts';

/** A result of a request, as far as it concerns its host. */
export type OutlierResult =
  | { readonly status: number }
  /** The connection failed, or there was no response in time; `status` is what the client got instead. */
  | { readonly localFailure: number };

/** What outlier detection knows of one host. */
export class OutlierMonitor {
  readonly external = new RequestWindow();
  readonly local = new RequestWindow();
  /** Failures in a row. */
  consecutive5xx = 0;
  gatewayFailure = 0;
  localOriginFailure = 0;
  /** When it was last ejected, by the clock of the detector. */
  ejectedAt = 0;
  /** The length of an ejection, in base ejection times. Grows with each, and shrinks with each interval without. */
  backoff = 0;

  /** Counts the status of a response, or of what the client got instead. */
  countStatus(status: number): void {
    const failed = status >= 500 && status < 600;
    this.external.add(!failed);
    this.consecutive5xx = failed ? this.consecutive5xx + 1 : 0;
    this.gatewayFailure = failed && isGatewayFailure(status) ? this.gatewayFailure + 1 : 0;
  }

  /** Counts whether the connection worked. */
  countConnection(failed: boolean): void {
    this.local.add(!failed);
    this.localOriginFailure = failed ? this.localOriginFailure + 1 : 0;
  }

  resetFailures(): void {
    this.consecutive5xx = 0;
    this.gatewayFailure = 0;
    this.localOriginFailure = 0;
  }
}

function isGatewayFailure(status: number): boolean {
  return status >= 502 && status <= 504;
}

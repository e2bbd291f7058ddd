/** Requests of one host in the current interval. */
export class RequestWindow {
  total = 0;
  succeeded = 0;

  add(success: boolean): void {
    this.total++;
    if (success) this.succeeded++;
  }

  /** Returns the percentage of successful requests, or -1 if there were fewer than `volume`, and starts the next interval. */
  close(volume: number): number {
    const { total, succeeded } = this;
    this.total = 0;
    this.succeeded = 0;
    return total > 0 && total >= volume ? (100 * succeeded) / total : -1;
  }
}

/** Returns the success rate below which a host is an outlier: the mean minus `factor` standard deviations. */
export function outlierThreshold(rates: readonly number[], factor: number): number {
  const mean = rates.reduce((sum, rate) => sum + rate, 0) / rates.length;
  const variance = rates.reduce((sum, rate) => sum + (rate - mean) ** 2, 0) / rates.length;
  return mean - factor * Math.sqrt(variance);
}

/** The default gateways, used if there is no Gateway resource (reference: routing 5.1). */
export interface DefaultGateways {
  /** Default `::`. */
  readonly bindAddress?: string;
  /** Default 8080. */
  readonly httpPort?: number;
  /** Default 8443. */
  readonly httpsPort?: number;
  /** Default `gateway-proxy`. */
  readonly proxyName?: string;
}

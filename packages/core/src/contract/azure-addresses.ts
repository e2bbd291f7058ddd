/** The two URLs of a Microsoft cloud, without a path. Plain `http` is for this machine only. */
export interface AzureAddresses {
  /** Issues tokens, e.g. `https://login.microsoftonline.com`. */
  readonly login: string;
  /** Returns groups, e.g. `https://graph.microsoft.com`. */
  readonly graph: string;
}

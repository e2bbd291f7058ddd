/** A request as matching sees it: canonical, cleaned of what belongs to one connection only. */
export interface RequestView {
  readonly method: string;
  /** Value of Host as written, its port cut off where the listener says so. */
  readonly authority: string;
  /** The canonical path with its query. */
  readonly path: string;
  /** The canonical path without its query. */
  readonly pathname: string;
  /** Flat, names in lower case. */
  readonly headers: readonly string[];
}

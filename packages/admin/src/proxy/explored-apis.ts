import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Next, ResourceRef } from '@edge-gateway/core';

/** What the explorer shows. */
export interface GraphQLExplorer {
  /** The APIs that are served now. */
  apis(): readonly ResourceRef[];
  /** Runs the requests of the explorer on one of them; introspection is allowed. */
  serve(api: ResourceRef): ((req: IncomingMessage, res: ServerResponse, next: Next) => void) | undefined;
}

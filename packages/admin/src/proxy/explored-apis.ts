import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Next, ResourceRef } from '@edge-gateway/core';

/** The APIs that the explorer shows. */
export interface GraphQLExplorer {
  /** The APIs that are currently served. */
  apis(): readonly ResourceRef[];
  /** Handles the explorer's requests to one API; introspection is allowed. */
  serve(api: ResourceRef): ((req: IncomingMessage, res: ServerResponse, next: Next) => void) | undefined;
}

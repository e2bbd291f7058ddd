import type { IncomingMessage } from 'node:http';
import { GatewayError, type Context, type Snapshot } from '@edge-gateway/core';
import { pickTransformations } from '../transform/levels.ts';
import { Message } from '../transform/message.ts';
import { compileStage } from '../transform/stage.ts';
import type { ReachedRoute, RoutePlace } from './explanation.ts';

/** What transformations take from around them. */
export interface TransformerParts {
  readonly message: IncomingMessage;
  readonly context: Context;
  readonly snapshot: Snapshot;
  /** The route that the request has by now. */
  readonly place: () => RoutePlace | undefined;
}

/** Makes what transforms an explained request as its routes do, at each stage once. */
export function createTransformer({ message, context, snapshot, place }: TransformerParts): ReachedRoute['transform'] {
  const met = new Set<object>();
  return (name) => {
    const reached = place();
    const options = reached && pickTransformations(levelsOf(reached));
    const stage = options?.[name];
    if (!stage || met.has(stage)) return undefined;
    met.add(stage);
    const escape = options.escapeCharacters ?? snapshot.settings?.escapeCharacters ?? false;
    try {
      compileStage(stage, { env: context.env ?? {}, escape })?.(new Message(message));
      return undefined;
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      const reason = error.cause instanceof Error ? error.cause.message : error.message;
      return { status: error.status, body: error.message, reason: `the request cannot be transformed: ${reason}` };
    }
  };
}

/** Of several destinations the first that gets requests counts. */
function levelsOf({ virtualHost, route }: RoutePlace): object[] {
  const levels: object[] = [virtualHost.options, route.options];
  if (route.action.type !== 'forward') return levels;
  const { destinations } = route.action;
  const chosen = destinations.find(({ weight }) => weight > 0) ?? destinations[0];
  return chosen ? [...levels, chosen.options] : levels;
}

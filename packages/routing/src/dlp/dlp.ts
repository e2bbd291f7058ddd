import type { IncomingMessage } from 'node:http';
import {
  applyHeaderChanges,
  asMiddleware,
  factsOf,
  httpStat,
  type BodyChange,
  type Concern,
  type Context,
  type CreateMiddleware,
  type FilteredHead,
  type Handler,
  type HeaderChange,
  type LogMask,
  type Metrics,
  type ResponseFilter,
  type TunnelHead,
} from '@edge-gateway/core';
import type { Dlp, DlpListener } from '@edge-gateway/core/schema';
import { decoderOf } from '../compress/decode.ts';
import { routingError } from '../error-codes.ts';
import type { RequestView } from '../format/record.ts';
import { findHeader } from '../http1/flat-headers.ts';
import { RequestMessage } from '../transform/message.ts';
import { ActionSet, type MaskedPlaces } from './action-set.ts';
import { compileListenerRules, type ChooseActions } from './listener-rules.ts';
import { StreamMask } from './stream-mask.ts';

/** `dlp`: masks sensitive values in responses and access logs. */
export const dlpConcern: Concern<Dlp | DlpListener> = { name: 'dlp', option: 'dlp', stage: 'fault', compile };

/**
 * Masks sensitive values in the responses of your own server, by the block that routes have as `dlp`. Throws
 * `ERR_CORE_MIDDLEWARE` for invalid options.
 *
 * @example
 * app.use(dlp({ actions: [{ actionType: 'ALL_CREDIT_CARDS' }, { actionType: 'SSN' }] }));
 */
export const dlp: CreateMiddleware<Dlp> = asMiddleware(dlpConcern as Concern<Dlp>, 'Dlp');

function compile(options: Dlp | DlpListener, { metrics }: Context): Handler {
  const onFound = countValues(metrics);
  const places = options.enabledFor ?? 'RESPONSE_BODY';
  const choose = createActionChoice(options, metrics);
  // A later change of the request does not change the rule that applies.
  const chosen = new WeakMap<IncomingMessage, { readonly actions: ActionSet | undefined }>();

  function actionsFor(req: IncomingMessage): ActionSet | undefined {
    let choice = chosen.get(req);
    if (!choice) chosen.set(req, (choice = { actions: choose(new RequestMessage(req)) }));
    return choice.actions;
  }

  const handler: Handler = function dlp(req, _res, next) {
    const facts = factsOf(req);
    const actions = actionsFor(req);
    if (actions && places !== 'RESPONSE_BODY') facts.logMask = actions;
    if (actions && masksBodies(actions, places)) facts.requestChanges.push(...WHOLE_BODIES);
    next();
  };
  handler.filterResponse = (req) => {
    const actions = actionsFor(req);
    return (
      actions && {
        onHead: (head) => filter(head, actions, { places, onFound }),
        onTunnel: (head) => maskHeaders(head, actions, places),
        ...trailerMask(actions, places),
      }
    );
  };
  return handler;
}

/** Compiles what chooses the actions for a request. Throws for invalid actions. */
export function createActionChoice(options: Dlp | DlpListener, metrics: Metrics): ChooseActions {
  const onFound = countValues(metrics);
  return 'dlpRules' in options ? compileListenerRules(options, onFound) : always(options, onFound);
}

/**
 * Returns what masks the access log of requests that no route matches; `undefined` if the rules of a listener mask no logs. Throws
 * for invalid rules.
 */
export function compileUnroutedMask(
  options: DlpListener | undefined,
  metrics: Metrics,
): ((request: RequestView) => LogMask | undefined) | undefined {
  if (!options || (options.enabledFor ?? 'RESPONSE_BODY') === 'RESPONSE_BODY') return undefined;
  return compileListenerRules(options, countValues(metrics));
}

/** A body that is not compressed need not be decoded, and a value that is divided into two ranges would not be found. */
const WHOLE_BODIES = ['accept-encoding', 'range', 'if-range'].map((name): HeaderChange => ({ op: 'remove', name }));

function countValues(metrics: Metrics): () => void {
  const found = metrics.counter(httpStat('dlp.values_found'));
  return () => void found.value++;
}

function always({ actions = [] }: Dlp, onFound: () => void): ChooseActions {
  const all = new ActionSet(actions, onFound);
  return () => all;
}

function masksBodies({ masks }: ActionSet, places: MaskedPlaces): boolean {
  return places !== 'ACCESS_LOGS' && masks.length > 0;
}

interface Filtering {
  readonly places: MaskedPlaces;
  readonly onFound: () => void;
}

/** Trailers are masked like the body and the headers that they belong to. */
function trailerMask(actions: ActionSet, places: MaskedPlaces): Pick<ResponseFilter, 'onTrailers'> | undefined {
  if (masksBodies(actions, places)) return { onTrailers: (trailers) => actions.maskAll(trailers) };
  const masksHeaders = places !== 'RESPONSE_BODY' && actions.masksKeys;
  return masksHeaders ? { onTrailers: (trailers) => actions.maskKeys(trailers) } : undefined;
}

function maskHeaders(head: TunnelHead, actions: ActionSet, places: MaskedPlaces): void {
  if (places !== 'RESPONSE_BODY' && actions.masksKeys) head.headers = actions.maskKeys(head.headers);
}

function filter(head: FilteredHead, actions: ActionSet, { places, onFound }: Filtering): BodyChange | undefined {
  maskHeaders(head, actions, places);
  if (!masksBodies(actions, places) || !head.hasBody) return undefined;
  const encoding = findHeader(head.headers, 'content-encoding') ?? '';
  const decode = decoderOf(encoding);
  // A body that cannot be read cannot be masked.
  if (!decode) throw routingError('ERR_ROUTING_DLP_ENCODING');
  head.headers = applyHeaderChanges(head.headers, [{ op: 'remove', name: 'content-encoding' }]);
  const events = (findHeader(head.headers, 'content-type') ?? '').startsWith('text/event-stream');
  return {
    async *stream(chunks) {
      const body = new StreamMask(actions.masks, { onFound, events });
      for await (const chunk of decode(chunks)) yield body.push(chunk);
      yield body.end();
    },
  };
}

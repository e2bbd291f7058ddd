import type { ProxyRejection } from '@edge-gateway/core';
import type { ErrorDetail } from './discovery.ts';
import { decodeStrings, encodeStrings } from './wire.ts';

/** `INVALID_ARGUMENT`. */
const INVALID = 3;
const REJECTION_TYPE = 'type.googleapis.com/edge_gateway.config.v1.Rejection';
/** Further rejections are only counted in the message. */
const MAX_DETAILS = 20;
const MAX_MESSAGE = 1000;

/** Returns the status of a NACK: text for every client, and the rejections as details. */
export function errorDetailOf(rejections: readonly ProxyRejection[]): ErrorDetail {
  const shown = rejections.slice(0, MAX_DETAILS);
  const more = rejections.length - shown.length;
  const texts = shown.map(
    ({ resource, field, message }) => `${resource}: ${field ? `${field}: ` : ''}${message.slice(0, MAX_MESSAGE)}`,
  );
  return {
    code: INVALID,
    message: [...texts, ...(more > 0 ? [`and ${more} more`] : [])].join('; '),
    details: shown.map(({ type, resource, field, message }) => ({
      type_url: REJECTION_TYPE,
      value: encodeStrings([type, resource, field, message.slice(0, MAX_MESSAGE)]),
    })),
  };
}

/** Returns the rejections of a NACK, truncated as in `errorDetailOf`. NACKs of other clients contain only text. */
export function rejectionsOf({ message, details = [] }: ErrorDetail, type: string): readonly ProxyRejection[] {
  const found = details.slice(0, MAX_DETAILS).flatMap((detail) => {
    if (detail.type_url !== REJECTION_TYPE) return [];
    try {
      const [of, resource, field, text] = decodeStrings(detail.value, 4).map((each) => each.slice(0, MAX_MESSAGE));
      return [{ type: of!, resource: resource!, field: field!, message: text! }];
    } catch {
      return [];
    }
  });
  return found.length > 0 ? found : [{ type, resource: '', field: '', message: message.slice(0, MAX_MESSAGE) }];
}

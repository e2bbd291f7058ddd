import type { ServerSessionOptions } from 'node:http2';
import type { ListenLimits } from '../limits.ts';

/** Frames that a client may send although they are invalid or empty, per connection. */
export const MAX_INVALID_FRAMES = 100;
/** Fields beyond the limit that are still counted, so that the response can say so; cookies arrive in parts. */
const MORE_FIELDS = 256;
const MIB = 1024 * 1024;

/** Twice the limit, so that the check can distinguish a long target from long headers. */
export const maxListBytesOf = ({ maxHeadBytes, maxTargetBytes }: ListenLimits): number =>
  2 * Math.max(maxHeadBytes, maxTargetBytes);

/** The number of fields that are counted. */
export const maxFieldsOf = ({ maxHeaders }: ListenLimits): number => 2 * maxHeaders + MORE_FIELDS;

/** Returns the options of the sessions of a listener; `webSockets` if clients may open them (RFC 8441). */
export function sessionOptions(limits: ListenLimits, webSockets: boolean): ServerSessionOptions {
  const { maxConcurrentStreams, initialStreamWindowBytes } = limits;
  const options = {
    settings: {
      maxConcurrentStreams,
      initialWindowSize: initialStreamWindowBytes,
      maxHeaderListSize: maxListBytesOf(limits),
      enablePush: false,
      enableConnectProtocol: webSockets,
    },
    maxHeaderListPairs: maxFieldsOf(limits),
    maxSessionInvalidFrames: MAX_INVALID_FRAMES,
    maxSessionMemory: Math.ceil((limits.initialConnectionWindowBytes + 16 * MIB) / MIB),
    // A repeated header of an upstream is passed on.
    strictSingleValueFields: false,
    // Node would drop a value with spaces around it; they are removed instead, as over HTTP/1.1.
    strictFieldWhitespaceValidation: false,
  };
  return options;
}

import type { Concern, Listener } from '@edge-gateway/core';
import type { HttpListenerOptions } from '@edge-gateway/core/schema';
import { bufferConcern } from '../options/buffer.ts';

/** Returns the blocks of a listener by the option of their concern. */
export function listenerBlocks({ httpOptions, options }: Listener): Readonly<Record<string, unknown>> {
  const { csrf, gzip, dlp, buffer } = httpOptions;
  return { csrf, gzip, dlp, bufferPerRoute: buffer && { buffer }, extensions: options.extensions };
}

/** Returns the concerns that can have an effect: blocks of routes for buffering have none if the listener does not buffer. */
export function concernsFor(concerns: readonly Concern[], { buffer }: HttpListenerOptions): readonly Concern[] {
  return buffer ? concerns : concerns.filter((concern) => concern !== (bufferConcern as Concern<never>));
}

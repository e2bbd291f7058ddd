import type { Concern, Listener, SnapshotSettings } from '@edge-gateway/core';
import type { ExtProc, HttpListenerOptions } from '@edge-gateway/core/schema';
import { bufferConcern } from '../options/buffer.ts';
import type { TranscoderSource } from '../../transcode/transcoder-source.ts';

/** Returns the blocks of a listener by the option of their concern. */
export function listenerBlocks(
  { httpOptions, options, descriptorSet }: Listener,
  shared: SnapshotSettings,
): Readonly<Record<string, unknown>> {
  const { csrf, gzip, dlp, buffer, httpLocalRatelimit, grpcJsonTranscoder: transcoder } = httpOptions;
  const bufferPerRoute = buffer && { buffer };
  const blocks = { csrf, gzip, dlp, bufferPerRoute, httpLocalRatelimit, extensions: options.extensions };
  const grpcJsonTranscoder: TranscoderSource | undefined = transcoder && {
    options: transcoder,
    descriptorSet: transcoder.protoDescriptorBin || descriptorSet,
  };
  // The blocks themselves are in the settings: those of routes override them field by field.
  const processed = EXT_PROC_FAMILIES.filter((family) => shared[family]).map((family) => [family, UNCHANGED]);
  return { ...blocks, ...(grpcJsonTranscoder && { grpcJsonTranscoder }), ...Object.fromEntries(processed) };
}

const EXT_PROC_FAMILIES = ['extProc', 'extProcEarly', 'extProcLate'] as const;
const DISABLE = {
  extProc: 'disableExtProc',
  extProcEarly: 'disableExtProcEarly',
  extProcLate: 'disableExtProcLate',
} as const;
const UNCHANGED = Object.freeze({});

/**
 * Returns the settings with those of a listener: `extauth` and `ratelimitServer` are replaced, external processing field by
 * field, and its local limit is added.
 */
export function withListenerBlocks(
  settings: SnapshotSettings,
  { name, httpOptions: options }: Pick<Listener, 'name' | 'httpOptions'>,
): SnapshotSettings {
  const own: { -readonly [F in (typeof EXT_PROC_FAMILIES)[number]]?: ExtProc | undefined } = {};
  for (const family of EXT_PROC_FAMILIES) {
    const block = options[family];
    if (options[DISABLE[family]]) own[family] = undefined;
    else if (block) own[family] = { ...settings[family], ...block };
  }
  const { extauth, ratelimitServer, httpLocalRatelimit } = options;
  if (!extauth && !ratelimitServer && !httpLocalRatelimit && Object.keys(own).length === 0) return settings;
  const replaced = {
    ...(extauth && { extauth }),
    ...(ratelimitServer && { ratelimitServer }),
    ...(httpLocalRatelimit && { httpLocalRatelimit, listener: name }),
  };
  return { ...settings, ...replaced, ...own } as SnapshotSettings;
}

/** Returns the concerns that can have an effect: blocks of routes for buffering have none if the listener does not buffer. */
export function concernsFor(concerns: readonly Concern[], { buffer }: HttpListenerOptions): readonly Concern[] {
  return buffer ? concerns : concerns.filter((concern) => concern !== (bufferConcern as Concern<never>));
}

import { compileTranscoder, type Transcoder } from './transcoder.ts';
import type { TranscoderSource } from './transcoder-source.ts';

export { transcodeRequest } from './transcode-request.ts';
export { responseFilter } from './transcode-response.ts';

/** Compiles a transcoder. Throws an `Error` that says what is wrong with it. */
export function compileSource({ options, descriptorSet = '' }: TranscoderSource): Transcoder {
  return compileTranscoder(options, Buffer.from(descriptorSet, 'base64'));
}

import type { EffectRule } from './effect.ts';
import { functionEffect, retryEffect, rewriteEffect, shadowEffect, transcoderEffect } from './forward-effects.ts';
import { processorEffect } from './processor-effects.ts';
import { bufferEffect, corsEffect, csrfEffect, faultEffect } from './request-effects.ts';
import { compressEffect, maskEffect } from './response-effects.ts';

/** Of options that apply before access is checked. */
export const FIRST_EFFECTS: readonly EffectRule[] = [processorEffect('extProcEarly'), faultEffect, corsEffect];

/** Of options that apply after the transformations of the request. */
export const LAST_EFFECTS: readonly EffectRule[] = [
  processorEffect('extProc'),
  transcoderEffect,
  csrfEffect,
  bufferEffect,
  processorEffect('extProcLate'),
  rewriteEffect,
  functionEffect,
  shadowEffect,
  retryEffect,
  maskEffect,
  compressEffect,
];

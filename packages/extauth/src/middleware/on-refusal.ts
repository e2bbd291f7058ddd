import { enumeration } from '@edge-gateway/core/options';

/** The option of every middleware, which `extauth` applies. */
export const ON_REFUSAL = enumeration(['respond', 'next']);

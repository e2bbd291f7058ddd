import type { Router } from '../router.ts';

/** The part of a router that listeners use. */
export type ListeningRouter = Pick<Router, 'listener'> &
  Partial<Pick<Router, 'drain' | 'logRefused' | 'logConnection' | 'serveTcp'>>;

export type { Router, RouterOptions } from './router.ts';

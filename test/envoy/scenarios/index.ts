import type { Group } from '../scenario.ts';
import { bodies } from './bodies.ts';
import { cors } from './cors.ts';
import { csrf } from './csrf.ts';
import { direct } from './direct.ts';
import { failures } from './failures.ts';
import { faults } from './faults.ts';
import { forwarded } from './forwarded.ts';
import { framing } from './framing.ts';
import { headers } from './headers.ts';
import { hostRewrite } from './host-rewrite.ts';
import { hosts } from './hosts.ts';
import { matching } from './matching.ts';
import { paths } from './paths.ts';
import { regexRewrite } from './regex-rewrite.ts';

/** The groups of every feature. */
export const FEATURES: Readonly<Record<string, readonly Group[]>> = {
  bodies,
  cors,
  csrf,
  direct,
  failures,
  faults,
  forwarded,
  framing,
  headers,
  hostRewrite,
  hosts,
  matching,
  paths,
  regexRewrite,
};

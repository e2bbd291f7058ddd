import type { Kind } from '@edge-gateway/core';
import type { StructuralSchema } from './structural-schema.ts';

const STATE = {
  description: 'Pending, Accepted, Rejected or Warning, or their number.',
  'x-kubernetes-int-or-string': true,
} as const;

const REPORT_FIELDS = {
  state: STATE,
  reason: { type: 'string', description: 'The problems of the resource, with the paths of their fields.' },
  reportedBy: { type: 'string', description: 'The program that wrote the report.' },
  details: { ...object('Additional details.'), nullable: true, 'x-kubernetes-preserve-unknown-fields': true },
  messages: { type: 'array', items: { type: 'string' }, description: 'Notes that are not problems.' },
} as const;

const REPORT = {
  ...object('The report of one control plane.'),
  properties: {
    ...REPORT_FIELDS,
    subresourceStatuses: {
      ...object('Reports about resources made of this one, such as the Proxy of a VirtualService.'),
      additionalProperties: {
        type: 'object',
        properties: REPORT_FIELDS,
        'x-kubernetes-preserve-unknown-fields': true,
      },
    },
  },
} as const;

const STATUSES = {
  statuses: {
    ...object('Reports, by the namespace of the control plane.'),
    additionalProperties: REPORT,
  },
} as const;

const RATE_LIMIT_STATUS = {
  state: { type: 'string', description: 'PENDING, ACCEPTED or REJECTED.' },
  message: { type: 'string', description: 'The problems of the resource.' },
  observedGeneration: { description: 'The generation that the state is about.', 'x-kubernetes-int-or-string': true },
} as const;

/** Returns the schema of the `status` of a kind. */
export function statusSchema(kind: Kind): StructuralSchema {
  return {
    ...object('Written by the control plane.'),
    properties: { ...(kind === 'RateLimitConfig' && RATE_LIMIT_STATUS), ...STATUSES },
  };
}

function object(description: string) {
  return { type: 'object', description } as const;
}

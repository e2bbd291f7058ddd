import { issueData } from '@edge-gateway/core';
import { compactJson } from '../http/answer.ts';
import type { ControlEndpointFactory } from './endpoint.ts';

/** `/problems`: every problem of the configuration with its file and line, as `{total, problems}`. */
export const problems: ControlEndpointFactory = ({ state }) => ({
  paths: ['/problems'],
  help: 'every problem of the configuration',
  get: () => {
    const issues = state()?.issues ?? [];
    return compactJson({ total: issues.length, problems: issues.map(issueData) });
  },
});

import { RECORDING_HEADER, type RequestRecordings } from '@edge-gateway/core';
import { compactJson } from '../http/endpoint-response.ts';
import type { Endpoint } from '../http/endpoint.ts';

/** `/trace`: POST returns a token for one request, and with the token the way of that request. */
export function trace(recordings: RequestRecordings): Endpoint {
  return {
    paths: ['/trace'],
    help: 'records one request: POST returns a token for its header; with token, the record, once',
    parameters: [{ name: 'token', help: 'token of the request whose record is returned' }],
    changes: (parameters) => !parameters.has('token'),
    respond: async (parameters) => {
      const token = parameters.get('token');
      if (token === null) {
        const created = await recordings.create();
        if (created === undefined)
          return { status: 503, body: 'error: too many traces are waiting; try again in a minute\n' };
        return compactJson({ token: created, header: RECORDING_HEADER });
      }
      const recording = recordings.take(token);
      if (recording === undefined) return { status: 404, body: 'error: the token is unknown or has expired\n' };
      return compactJson(recording === 'pending' ? { state: 'pending' } : { state: 'done', recording });
    },
  };
}

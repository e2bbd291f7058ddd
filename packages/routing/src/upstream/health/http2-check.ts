import { MAX_BODY, type HttpProbeParts } from './http-check.ts';
import { http2Headers } from './http2-link.ts';
import { Http2Probe } from './http2-probe.ts';
import type { Probe } from './probe.ts';

/** Creates the probe that checks over HTTP/2 what {@link HttpProbe} checks over HTTP/1.1. */
export function http2Probe({ request, expectations, ...link }: HttpProbeParts & { readonly tls: boolean }): Probe {
  return new Http2Probe({
    ...link,
    maxBytes: expectations.readsBody ? MAX_BODY : 0,
    request() {
      const { method, path, headers } = request();
      return { headers: http2Headers(method, path, headers) };
    },
    resultOf: ({ head, body }) => expectations.check(Number(head[':status']), { headers: head, body: body.toString() }),
  });
}

import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Concern, Context, Route } from '@edge-gateway/core';
import type { StagedTransformations, TransformationStage, TransformationTemplate } from '@edge-gateway/core/schema';
import { createRouter, type Router } from '../../src/router.ts';
import { endpointOf, hostOf, LISTENER, routeOf, snapshotOf, start, stopAll, upstreamOf } from '../snapshots.ts';

const routers: Router[] = [];

type Handle = (req: IncomingMessage, res: ServerResponse) => void | Promise<void>;

export interface Setting {
  readonly concerns?: readonly Concern[];
  readonly context?: Context;
  readonly settings?: object;
  readonly listener?: Parameters<typeof snapshotOf>[2];
  readonly upstream?: Handle;
  /** Metadata of the endpoint. */
  readonly metadata?: Readonly<Record<string, string>>;
  readonly route?: Partial<Route>;
}

/** Sends back what it received, as text. */
export async function mirror(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  const { 'x-type': type = 'text/plain', ...headers } = req.headers;
  res.setHeader('content-type', type);
  res.setHeader('x-received', JSON.stringify({ method: req.method, url: req.url, headers }));
  res.end(Buffer.concat(chunks));
}

/** Serves one route with these transformations; returns the port. */
export async function serve(staged: StagedTransformations, setting: Setting = {}): Promise<number> {
  const { settings, listener, upstream = mirror, metadata, route, ...options } = setting;
  const router = createRouter(options);
  routers.push(router);
  const { port } = await start((req, res) => void upstream(req, res));
  const endpoint = { ...endpointOf(port), ...(metadata && { metadata }) };
  const host = hostOf([routeOf({ options: { stagedTransformations: staged }, ...route })]);
  const snapshot = snapshotOf([host], [upstreamOf([endpoint])], listener);
  router.apply({ ...snapshot, settings: { ...snapshot.settings, ...settings } });
  const handler = router.listener(LISTENER);
  return (await start((req, res) => handler(req, res, () => res.destroy()))).port;
}

export async function stop(): Promise<void> {
  await Promise.all(routers.splice(0).map((router) => router.close()));
  await stopAll();
}

/** A stage that applies one template to requests. */
export const onRequests = (transformationTemplate: TransformationTemplate): TransformationStage => ({
  requestTransforms: [{ requestTransformation: { transformationTemplate } }],
});

/** A stage that applies one template to responses. */
export const onResponses = (transformationTemplate: TransformationTemplate): TransformationStage => ({
  responseTransforms: [{ responseTransformation: { transformationTemplate } }],
});

interface Asked {
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Record<string, string | string[]>;
  readonly body?: string | Buffer | readonly string[];
}

/** Sends a request; a body in parts is sent in chunks. */
export async function ask(port: number, { path = '/', method, headers = {}, body }: Asked = {}) {
  const verb = method ?? (body === undefined ? 'GET' : 'POST');
  const req = httpRequest({ port, host: '127.0.0.1', path, method: verb, headers, agent: false });
  req.on('error', () => {});
  if (Array.isArray(body)) for (const part of body as string[]) req.write(part);
  req.end(Array.isArray(body) ? undefined : (body as string | Buffer | undefined));
  const [res] = (await once(req, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of res) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  const received = JSON.parse(String(res.headers['x-received'] ?? '{}')) as {
    readonly method: string;
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
  };
  return { status: res.statusCode!, headers: res.headers, body: bytes.toString('utf8'), bytes, received };
}

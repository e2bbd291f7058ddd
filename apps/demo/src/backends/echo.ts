import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { startService, type Service } from './http-service.ts';

/**
 * The echo service: responds to every request with its content as JSON
 * `{ service, method, path, headers, rawHeaders, body }`. `?status=418` chooses the status, `?delay=250` waits so many
 * milliseconds (at most 60,000) before the response.
 */
export function startEcho(address: { host?: string; port?: number; name?: string } = {}): Promise<Service> {
  const name = address.name ?? 'echo';
  return startService(name, (req, res) => void echo(name, req, res), address);
}

async function echo(service: string, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const body = await buffer(req).catch(() => undefined);
  if (body === undefined) return void res.destroy();
  const parameters = new URLSearchParams(/\?(.*)$/.exec(req.url ?? '')?.[1]);
  const status = Number(parameters.get('status'));
  const delay = Math.min(Number(parameters.get('delay')) || 0, 60_000);
  if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay));
  const content = {
    service,
    method: req.method,
    path: req.url,
    headers: req.headers,
    rawHeaders: req.rawHeaders,
    body: body.toString('utf8'),
  };
  res.writeHead(status >= 200 && status <= 599 ? status : 200, { 'content-type': 'application/json' });
  res.end(`${JSON.stringify(content, null, 2)}\n`);
}

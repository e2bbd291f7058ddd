import { request } from 'node:http';

/** What came back. */
export interface RawAnswer {
  readonly status: number;
  readonly location: string | undefined;
  readonly body: string;
  /** The cookies that were set, as a browser sends them back. */
  readonly cookie: string;
}

/** A request whose target and headers are sent as they are. */
export function sendRaw(base: string, path: string, headers: Record<string, string> = {}): Promise<RawAnswer> {
  const { hostname, port } = new URL(base);
  return new Promise((resolve, reject) => {
    const req = request({ hostname, port, path, headers }, (res) => {
      let body = '';
      res.on('data', (chunk: Buffer) => (body += chunk.toString()));
      const cookie = (res.headers['set-cookie'] ?? []).map((each) => each.split(';', 1)[0]).join('; ');
      res.on('end', () => resolve({ status: res.statusCode!, location: res.headers.location, body, cookie }));
    });
    req.on('error', reject).end();
  });
}

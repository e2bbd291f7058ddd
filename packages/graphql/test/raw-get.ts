import { request, type IncomingHttpHeaders } from 'node:http';

/** Sends a request with exactly these headers, which fetch would change. */
export function rawGet(
  url: string,
  headers: Readonly<Record<string, string>>,
  method = 'GET',
): Promise<{ readonly status: number; readonly headers: IncomingHttpHeaders; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const req = request(url, { method, headers, agent: false }, (res) => {
      let text = '';
      res.setEncoding('utf8');
      res.on('data', (chunk: string) => (text += chunk));
      res.once('end', () => resolve({ status: res.statusCode!, headers: res.headers, text }));
    });
    req.once('error', reject).end();
  });
}

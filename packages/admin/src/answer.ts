import type { Response } from 'express';

const CONTENT_TYPES = {
  text: 'text/plain; charset=utf-8',
  json: 'application/json',
  html: 'text/html; charset=utf-8',
  prometheus: 'text/plain; version=0.0.4; charset=utf-8',
} as const;

/** What an endpoint answers. Status 200 and text unless it says otherwise. */
export interface Answer {
  readonly status?: number;
  readonly type?: keyof typeof CONTENT_TYPES;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Called when the answer was sent. */
  readonly after?: () => void;
}

/** An answer in JSON on one line. */
export function compactJson(value: unknown): Answer {
  return { type: 'json', body: `${JSON.stringify(value)}\n` };
}

/** Sends an answer; pages run no script and load nothing. */
export function send(res: Response, { status = 200, type = 'text', body, headers = {}, after }: Answer): void {
  if (after) res.once('close', after);
  if (type === 'html') {
    res.set(
      'content-security-policy',
      "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'",
    );
  }
  res
    .status(status)
    .set({ ...headers })
    .type(CONTENT_TYPES[type]);
  res.end(body);
}

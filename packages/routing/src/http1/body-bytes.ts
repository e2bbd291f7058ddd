/** Part of a buffer: the bytes of a body. */
export interface BodyBytes {
  readonly buffer: Buffer;
  readonly start: number;
  readonly end: number;
}

/** Returns the length of a body in bytes; a text has one byte for each character. */
export const bodyLength = (body: string | BodyBytes): number =>
  typeof body === 'string' ? body.length : body.end - body.start;

/** Returns a body as text with one character for each byte. */
export const bodyText = (body: string | BodyBytes): string =>
  typeof body === 'string' ? body : body.buffer.toString('latin1', body.start, body.end);

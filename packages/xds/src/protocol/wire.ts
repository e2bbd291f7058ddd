// Messages whose fields are strings with the numbers 1, 2, 3 and so on.

const LENGTH_DELIMITED = 2;

/** Returns a message with these fields; empty ones are omitted. */
export function encodeStrings(values: readonly string[]): Buffer {
  const parts: Uint8Array[] = [];
  for (const [i, value] of values.entries()) {
    if (value === '') continue;
    const bytes = Buffer.from(value, 'utf8');
    parts.push(varint(((i + 1) << 3) | LENGTH_DELIMITED), varint(bytes.length), bytes);
  }
  return Buffer.concat(parts);
}

/** Returns the first `count` fields of a message; missing ones are empty. Throws a `RangeError` for malformed bytes and other fields. */
export function decodeStrings(message: Uint8Array, count: number): string[] {
  const bytes = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
  const values = new Array<string>(count).fill('');
  let at = 0;
  const next = (): number => {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      if (at >= bytes.length) throw new RangeError('the message is truncated');
      const byte = bytes[at++]!;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    throw new RangeError('a number in the message is too long');
  };
  while (at < bytes.length) {
    const tag = next();
    const field = tag >>> 3;
    if ((tag & 7) !== LENGTH_DELIMITED || field < 1 || field > count)
      throw new RangeError(`the message has an unexpected field ${field}`);
    const end = next() + at;
    if (end > bytes.length) throw new RangeError('the message is truncated');
    values[field - 1] = bytes.toString('utf8', at, end);
    at = end;
  }
  return values;
}

/**
 * Returns bytes with memory of their own. A small buffer of Node.js is a part of a larger one, which would stay in memory as long as any of its parts: with
 * resources that rarely change, several times their size.
 */
export function unpooled(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
}

/** Returns a number as it precedes a field. */
export function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  bytes.push(rest);
  return Buffer.from(bytes);
}

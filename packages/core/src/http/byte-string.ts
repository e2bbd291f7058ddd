import { isUtf8 } from 'node:buffer';

// oxlint-disable-next-line no-control-regex -- matches the ASCII range on purpose
const ASCII = /^[\u0000-\u007f]*$/;
const BEYOND_BYTES = /[\u0100-\uffff]/;

/**
 * Returns the UTF-8 bytes of a text, one character each: the form in which Node reads and writes header values and request targets. Use it
 * for text that is sent as a header value, or compared with one.
 *
 * @example
 * toByteString('José'); // 'JosÃ©'
 */
export function toByteString(text: string): string {
  return ASCII.test(text) ? text : Buffer.from(text, 'utf8').toString('latin1');
}

/**
 * Returns the text of a header value or request target: its bytes as UTF-8. Unchanged if they are not valid UTF-8.
 *
 * @example
 * fromByteString('JosÃ©'); // 'José'
 */
export function fromByteString(bytes: string): string {
  if (ASCII.test(bytes) || BEYOND_BYTES.test(bytes)) return bytes;
  const buffer = Buffer.from(bytes, 'latin1');
  return isUtf8(buffer) ? buffer.toString('utf8') : bytes;
}

/** A final frame of RFC 6455 §5.2: text, or what `opcode` says. */
export function frame(payload: Buffer, { masked = false, opcode = 1 } = {}): Buffer {
  const { length } = payload;
  const head = [0x80 | opcode];
  const bit = masked ? 0x80 : 0;
  if (length < 126) head.push(bit | length);
  else if (length < 65_536) head.push(bit | 126, length >> 8, length & 0xff);
  else head.push(bit | 127, 0, 0, 0, 0, ...[24, 16, 8, 0].map((shift) => (length >> shift) & 0xff));
  if (!masked) return Buffer.concat([Buffer.from(head), payload]);
  const mask = [1, 2, 3, 4];
  return Buffer.concat([Buffer.from([...head, ...mask]), payload.map((byte, i) => byte ^ mask[i % 4]!)]);
}

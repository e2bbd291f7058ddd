const BLOCK = 512;

/** Returns an archive in the ustar format with files of mode 0600. Names have at most 100 bytes. */
export function tar(files: readonly { readonly name: string; readonly content: Buffer }[], now: Date): Buffer {
  const parts = files.flatMap(({ name, content }) => {
    const padding = Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK);
    return [header(name, content.length, now), content, padding];
  });
  return Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)]);
}

function header(name: string, size: number, now: Date): Buffer {
  const block = Buffer.alloc(BLOCK);
  const octal = (value: number, digits: number) => value.toString(8).padStart(digits, '0');
  block.write(name, 0);
  block.write(`${octal(0o600, 7)}\0${octal(0, 7)}\0${octal(0, 7)}\0`, 100);
  block.write(`${octal(size, 11)} ${octal(Math.floor(now.getTime() / 1000), 11)} `, 124);
  // The checksum counts its own field as spaces.
  block.write('        0', 148);
  block.write('ustar\u000000', 257);
  const sum = block.reduce((all, byte) => all + byte, 0);
  block.write(`${octal(sum, 6)}\0 `, 148);
  return block;
}
